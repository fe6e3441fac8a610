// Layers as Vega-Lite marks: boxes and violins (see vega_panel.h).
#include "charts/vega_panel.h"

namespace cellblock::charts {

void VegaPanel::boxes(const Layer& layer) {
    const Frame along = frame(layer);
    const LayerData& data = layer.data;
    const Column& position = data.numbers("pos");
    const Column& category = data.numbers("cat");
    Column half = data.numbers("width");
    half.resize(position.size(), 0.5);
    for (double& width : half) width /= 2;
    rule(layer, along, position, data.numbers("min"), data.numbers("max"));
    const bool banded = along.along.nominal() && !offsets_.empty();
    Unit box, middle, means, outliers;
    for (std::size_t i = 0; i < position.size(); ++i) {
        const double q1 = data.numbers("q1")[i], q3 = data.numbers("q3")[i],
                     median = data.numbers("median")[i];
        if (banded) {
            Json row{{"lo", along.across.value(q1)}, {"hi", along.across.value(q3)}};
            place(box, row, layer, along, position[i], i < category.size() ? category[i] : -1);
            Json tick{{"v", along.across.value(median)}};
            place(middle, tick, layer, along, position[i], i < category.size() ? category[i] : -1);
            if (!row["at"].is_null() && !row["lo"].is_null() && !row["hi"].is_null()) {
                box.rows.push_back(std::move(row));
                middle.rows.push_back(std::move(tick));
            }
        } else {
            rectangle(layer, along, box, position[i] - half[i], position[i] + half[i], q1, q3, {});
            rectangle(layer, along, middle, position[i] - half[i], position[i] + half[i], median,
                      median, {});
        }
        if (i < data.numbers("mean").size()) {
            Json row{{"v", along.across.value(data.numbers("mean")[i])}};
            place(means, row, layer, along, position[i], i < category.size() ? category[i] : -1);
            if (!row["at"].is_null() && !row["v"].is_null()) means.rows.push_back(std::move(row));
        }
        if (data.lists("outliers").empty()) continue;
        for (const double value : data.lists("outliers")[i]) {
            Json row{{"v", along.across.value(value)}};
            place(outliers, row, layer, along, position[i], i < category.size() ? category[i] : -1);
            if (!row["at"].is_null() && !row["v"].is_null())
                outliers.rows.push_back(std::move(row));
        }
    }
    box.mark = {{"type", banded ? "bar" : "rect"}, {"stroke", "#333333"}};
    outliers.mark = {{"type", "point"}, {"size", 20}, {"color", "#333333"}};
    means.mark = {{"type", "point"}, {"size", 30}, {"filled", true}, {"color", "#333333"}};
    if (banded) {
        box.mark["orient"] = layer.orient == Orient::vertical ? "vertical" : "horizontal";
        box.encoding[along.along_name] = along.along.channel("at");
        box.encoding[along.across_name] = along.across.channel("hi");
        box.encoding[std::string(along.across_name) + "2"] = {{"field", "lo"}};
        box.encoding[along.across_name]["stack"] = nullptr;
        middle.mark = {{"type", "tick"},
                       {"color", "black"},
                       {"thickness", 2},
                       {"orient", layer.orient == Orient::vertical ? "horizontal" : "vertical"}};
        const char* side = layer.orient == Orient::vertical ? "width" : "height";
        box.mark[side] = middle.mark[side] = {{"band", 0.6}};
        middle.encoding[along.along_name] = along.along.channel("at");
        middle.encoding[along.across_name] = along.across.channel("v");
    } else {
        put_rect_channels(box, along);
        put_rect_channels(middle, along);
        middle.mark = {{"type", "rect"}, {"stroke", "black"}, {"strokeWidth", 2}};
    }
    for (Unit* points : {&means, &outliers}) {
        points->encoding[along.along_name] = along.along.channel("at");
        points->encoding[along.across_name] = along.across.channel("v");
    }
    box.encoding["color"] = series_color(layer);
    // A box of lines alone has the colour of its lines: the median must stay visible on it.
    if (layer.color.starts_with("#000000")) box.encoding["color"] = {{"value", "#d0d7de"}};
    add(&layer, std::move(box));
    add(&layer, std::move(middle));
    add(&layer, std::move(means));
    add(&layer, std::move(outliers));
}

void VegaPanel::violins(const Layer& layer) {
    const Frame along = frame(layer);
    const LayerData& data = layer.data;
    const Column& position = data.numbers("pos");
    Unit body, middle;
    for (std::size_t i = 0; i < position.size(); ++i) {
        const Column& coords = data.lists("coords")[i];
        for (std::size_t j = 0; j < coords.size(); ++j) {
            Json row{{"at", along.across.value(coords[j])},
                     {"lo", along.along.value(position[i] - data.lists("half_lo")[i][j])},
                     {"hi", along.along.value(position[i] + data.lists("half_hi")[i][j])},
                     {"run", i}};
            if (!row["at"].is_null() && !row["lo"].is_null() && !row["hi"].is_null())
                body.rows.push_back(std::move(row));
        }
        if (i < data.numbers("median").size()) {
            Json row{{"at", along.along.value(position[i])},
                     {"v", along.across.value(data.numbers("median")[i])}};
            if (!row["v"].is_null()) middle.rows.push_back(std::move(row));
        }
    }
    body.mark = {{"type", "area"},
                 {"opacity", 0.8},
                 {"orient", layer.orient == Orient::vertical ? "horizontal" : "vertical"}};
    body.encoding = {{along.across_name, along.across.channel("at")},
                     {along.along_name, along.along.channel("hi")},
                     {"detail", {{"field", "run"}, {"type", "nominal"}}},
                     {"color", series_color(layer)}};
    body.encoding[std::string(along.along_name) + "2"] = {{"field", "lo"}};
    body.encoding[along.along_name]["stack"] = nullptr;
    middle.mark = {{"type", "point"}, {"filled", true}, {"color", "white"}, {"stroke", "#333333"}};
    middle.encoding = {{along.along_name, along.along.channel("at")},
                       {along.across_name, along.across.channel("v")}};
    add(&layer, std::move(body));
    add(&layer, std::move(middle));
}

}  // namespace cellblock::charts
