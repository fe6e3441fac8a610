// Layers as Vega-Lite marks: grids, contours, pies and the rest (see vega_panel.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "charts/text.h"
#include "charts/vega_panel.h"

namespace cellblock::charts {

void VegaPanel::cells(const Layer& layer) {
    const LayerData& data = layer.data;
    const Grid& grid = data.grid("v");
    const Column& x_edges = data.numbers("x_edges");
    const Column& y_edges = data.numbers("y_edges");
    const auto& words = data.words("text");
    const Position& x = x_of(layer);
    const Position& y = y_of(layer);
    if (x_edges.empty() || y_edges.empty()) {
        ++skipped_;
        return;
    }
    Unit cells, texts;
    for (std::size_t row = 0; row < grid.rows; ++row) {
        for (std::size_t column = 0; column < grid.columns; ++column) {
            const double value = grid.at(row, column);
            if (!std::isfinite(value)) continue;
            const double middle_x = (x_edges[column] + x_edges[column + 1]) / 2;
            const double middle_y = (y_edges[row] + y_edges[row + 1]) / 2;
            Json cell{{"x", x.value(x.nominal() ? middle_x : x_edges[column])},
                      {"y", y.value(y.nominal() ? middle_y : y_edges[row])},
                      {"v", value}};
            if (!x.nominal()) cell["x2"] = x.value(x_edges[column + 1]);
            if (!y.nominal()) cell["y2"] = y.value(y_edges[row + 1]);
            cells.rows.push_back(std::move(cell));
            if (words.empty() || words[row][column].empty()) continue;
            texts.rows.push_back(
                {{"x", x.value(middle_x)}, {"y", y.value(middle_y)}, {"text", words[row][column]}});
        }
    }
    mapped_ = true;
    cells.mark = {{"type", "rect"}, {"clip", true}};
    cells.encoding = {{"x", x.channel("x")}, {"y", y.channel("y")}, {"color", value_color("v")}};
    if (!x.nominal()) cells.encoding["x2"] = {{"field", "x2"}};
    if (!y.nominal()) cells.encoding["y2"] = {{"field", "y2"}};
    texts.mark = {{"type", "text"}, {"color", "black"}};
    texts.encoding = {{"x", x.channel("x")},
                      {"y", y.channel("y")},
                      {"text", {{"field", "text"}, {"type", "nominal"}}}};
    add(&layer, std::move(cells));
    add(&layer, std::move(texts));
}

void VegaPanel::contour(const Layer& layer) {
    const LayerData& data = layer.data;
    const Position& x = x_of(layer);
    const Position& y = y_of(layer);
    const bool plain = !layer.color.empty();  // colours that the user chose, not values
    mapped_ = mapped_ || !plain;
    if (layer.kind == Kind::contourf && data.has("z")) {  // the field itself, in cells
        const Grid& z = data.grid("z");
        const Column& at_x = data.numbers("z_x");
        const Column& at_y = data.numbers("z_y");
        const auto edge = [](const Column& at, std::size_t i, double side) {
            const std::size_t other =
                side < 0 ? (i == 0 ? i : i - 1) : (i + 1 == at.size() ? i : i + 1);
            return (at[i] + at[other]) / 2;
        };
        Unit cells;
        for (std::size_t row = 0; row < z.rows; ++row) {
            for (std::size_t i = 0; i < z.columns; ++i) {
                if (!std::isfinite(z.at(row, i))) continue;
                cells.rows.push_back({{"x", x.value(edge(at_x, i, -1))},
                                      {"x2", x.value(edge(at_x, i, 1))},
                                      {"y", y.value(edge(at_y, row, -1))},
                                      {"y2", y.value(edge(at_y, row, 1))},
                                      {"v", z.at(row, i)}});
            }
        }
        cells.mark = {{"type", "rect"}, {"clip", true}};
        cells.encoding = {{"x", x.channel("x")},
                          {"x2", {{"field", "x2"}}},
                          {"y", y.channel("y")},
                          {"y2", {{"field", "y2"}}},
                          {"color", value_color("v")}};
        add(&layer, std::move(cells));
        return;
    }
    Unit lines;
    const Column& level = data.numbers("path_level");
    for (std::size_t path = 0; path < level.size(); ++path) {
        const Column& at_x = data.lists("path_x")[path];
        for (std::size_t i = 0; i < at_x.size(); ++i) {
            Json row{{"x", x.value(at_x[i])},
                     {"y", y.value(data.lists("path_y")[path][i])},
                     {"v", std::isfinite(level[path]) ? Json(level[path]) : Json()},
                     {"i", i},
                     {"run", path}};
            if (!row["x"].is_null() && !row["y"].is_null()) lines.rows.push_back(std::move(row));
        }
    }
    lines.mark = {{"type", "line"}, {"clip", true}};
    lines.encoding = {{"x", x.channel("x")},
                      {"y", y.channel("y")},
                      {"color", plain ? series_color(layer) : value_color("v")},
                      {"detail", {{"field", "run"}, {"type", "nominal"}}},
                      {"order", {{"field", "i"}, {"type", "quantitative"}}}};
    add(&layer, std::move(lines));
}

void VegaPanel::hexbin(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& at_x = data.numbers("x");
    const Position& x = x_of(layer);
    const Position& y = y_of(layer);
    // In pixels, of one hexagon that stands on a corner.
    double across = 11, up = 12;
    if (data.number("dx") && data.number("dy") && panel_.x.lim && panel_.y.lim) {
        const double wide =
            *data.number("dx") / std::abs((*panel_.x.lim)[1] - (*panel_.x.lim)[0]) * width_;
        const double high =
            *data.number("dy") / std::abs((*panel_.y.lim)[1] - (*panel_.y.lim)[0]) * height_;
        if (std::isfinite(wide) && std::isfinite(high)) {
            across = std::clamp(wide, 2.0, 400.0);
            up = std::clamp(high, 2.0, 400.0);
        }
    }
    // A symbol's path is scaled by half of the root of its size: here its height is 2.
    const std::string side = exact_number(across / up);
    const std::string shape =
        "M0,-1L" + side + ",-0.5L" + side + ",0.5L0,1L-" + side + ",0.5L-" + side + ",-0.5Z";
    Unit unit;
    for (std::size_t i = 0; i < at_x.size(); ++i) {
        Json row{{"x", x.value(at_x[i])},
                 {"y", y.value(data.numbers("y")[i])},
                 {"v", data.numbers("v")[i]}};
        if (!row["x"].is_null() && !row["y"].is_null() && std::isfinite(data.numbers("v")[i]))
            unit.rows.push_back(std::move(row));
    }
    mapped_ = true;
    unit.mark = {{"type", "point"}, {"filled", true},  {"clip", true},
                 {"opacity", 1},    {"size", up * up}, {"shape", shape}};
    unit.encoding = {{"x", x.channel("x")}, {"y", y.channel("y")}, {"color", value_color("v")}};
    add(&layer, std::move(unit));
}

void VegaPanel::arrows(const Layer& layer) {
    const LayerData& data = layer.data;
    Unit unit;
    for (std::size_t i = 0; i < data.numbers("x").size(); ++i) {
        const double u = data.numbers("u")[i], v = data.numbers("v")[i];
        Json row{{"x", x_of(layer).value(data.numbers("x")[i])},
                 {"y", y_of(layer).value(data.numbers("y")[i])},
                 {"angle", 90 - std::atan2(v, u) * 180 / std::numbers::pi}};
        if (!row["x"].is_null() && !row["y"].is_null() && std::isfinite(u + v))
            unit.rows.push_back(std::move(row));
    }
    unit.mark = {
        {"type", "point"}, {"shape", "arrow"}, {"filled", true}, {"size", 300}, {"clip", true}};
    unit.encoding = {{"x", x_of(layer).channel("x")},
                     {"y", y_of(layer).channel("y")},
                     {"angle", {{"field", "angle"}, {"type", "quantitative"}, {"scale", nullptr}}},
                     {"color", series_color(layer)}};
    add(&layer, std::move(unit));
}

void VegaPanel::gantt(const Layer& layer) {
    const LayerData& data = layer.data;
    const Frame along{y_of(layer), x_of(layer), "y", "x"};
    const bool banded = along.along.nominal();
    Unit unit;
    for (std::size_t i = 0; i < data.numbers("row").size(); ++i) {
        const double row_at = data.numbers("row")[i];
        const double half =
            (i < data.numbers("height").size() ? data.numbers("height")[i] : 0.8) / 2;
        if (!banded) {
            rectangle(layer, along, unit, row_at - half, row_at + half, data.numbers("start")[i],
                      data.numbers("end")[i], {});
            continue;
        }
        Json row{{"at", along.along.value(row_at)},
                 {"lo", along.across.value(data.numbers("start")[i])},
                 {"hi", along.across.value(data.numbers("end")[i])}};
        if (!row["at"].is_null() && !row["lo"].is_null() && !row["hi"].is_null())
            unit.rows.push_back(std::move(row));
    }
    unit.mark = {{"type", banded ? "bar" : "rect"}};
    if (banded) unit.mark["height"] = {{"band", 0.7}};
    if (banded) {
        unit.encoding = {{"y", along.along.channel("at")},
                         {"x", along.across.channel("lo")},
                         {"x2", {{"field", "hi"}}}};
    } else {
        put_rect_channels(unit, along);
    }
    unit.encoding["color"] = series_color(layer);
    add(&layer, std::move(unit));
}

void VegaPanel::candles(const Layer& layer) {
    const LayerData& data = layer.data;
    const Frame along{x_of(layer), y_of(layer), "x", "y"};
    rule(layer, along, data.numbers("t"), data.numbers("l"), data.numbers("h"));
    Unit unit;
    for (std::size_t i = 0; i < data.numbers("t").size(); ++i) {
        const double open = data.numbers("o")[i], close = data.numbers("c")[i];
        Json row{{"at", along.along.value(data.numbers("t")[i])},
                 {"lo", along.across.value(open)},
                 {"hi", along.across.value(close)},
                 {"color", close >= open ? "#2ca02c" : "#d62728"}};
        if (!row["at"].is_null() && !row["lo"].is_null() && !row["hi"].is_null())
            unit.rows.push_back(std::move(row));
    }
    unit.mark = {{"type", "bar"}, {"size", 6}};
    unit.encoding = {{"x", along.along.channel("at")},
                     {"y", along.across.channel("lo")},
                     {"y2", {{"field", "hi"}}},
                     {"color", {{"field", "color"}, {"type", "nominal"}, {"scale", nullptr}}}};
    add(&layer, std::move(unit));
}

void VegaPanel::events(const Layer& layer) {
    const bool lying = layer.orient == Orient::horizontal;  // marks stand in rows
    const Position& along = lying ? x_of(layer) : y_of(layer);
    const Position& across = lying ? y_of(layer) : x_of(layer);
    const auto& lists = layer.data.lists("pos");
    Unit unit;
    for (std::size_t row = 0; row < lists.size(); ++row) {
        const Column& offsets = layer.data.numbers("offsets");
        for (const double place : lists[row]) {
            Json item{{"at", along.value(place)},
                      {"row", across.value(row < offsets.size() ? offsets[row] : 0)}};
            if (!item["at"].is_null() && !item["row"].is_null())
                unit.rows.push_back(std::move(item));
        }
    }
    unit.mark = {{"type", "tick"},
                 {"orient", lying ? "vertical" : "horizontal"},
                 {"size", 20},
                 {"thickness", 2},
                 {"clip", true}};
    unit.encoding = {{lying ? "x" : "y", along.channel("at")},
                     {lying ? "y" : "x", across.channel("row")},
                     {"color", series_color(layer)}};
    add(&layer, std::move(unit));
}

void VegaPanel::pie(const Layer& layer) {
    const LayerData& data = layer.data;
    const auto& labels = data.texts("label");
    const auto& colors = data.texts("color");
    const Column& share = data.numbers("frac");
    const Column& start = data.numbers("angle0");
    const Column& end = data.numbers("angle1");
    const Column& radius = data.numbers("r");
    const Column& inner = data.numbers("r_inner");
    const double largest = radius.empty() ? 1 : *std::max_element(radius.begin(), radius.end());
    const double scale = width_ * 0.4 / (largest > 0 && std::isfinite(largest) ? largest : 1);
    Unit arcs, texts;
    double at = 90;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        // Degrees from the right, against the clock -> radians from the top, with the clock.
        const double from = i < start.size() ? start[i] : at,
                     to = i < end.size() ? end[i] : at + share[i] * 360;
        at = to;
        const double theta = (90 - to) * std::numbers::pi / 180,
                     theta2 = (90 - from) * std::numbers::pi / 180;
        Json row{{"theta", theta},
                 {"theta2", theta2},
                 {"label", labels[i]},
                 {"share", share[i]},
                 {"middle", (theta + theta2) / 2}};
        if (i < colors.size() && !colors[i].empty()) row["color"] = colors[i].substr(0, 7);
        arcs.rows.push_back(row);
        if (!labels[i].empty()) texts.rows.push_back(std::move(row));
    }
    const double outer = (radius.empty() ? 1 : radius.front()) * scale;
    const Json raw{{"type", "quantitative"}, {"scale", nullptr}};
    const auto field = [&raw](const char* name) {
        Json channel = raw;
        channel["field"] = name;
        return channel;
    };
    arcs.mark = {{"type", "arc"},
                 {"outerRadius", outer},
                 {"innerRadius", inner.empty() ? 0 : inner.front() * scale},
                 {"stroke", "white"}};
    arcs.encoding = {
        {"theta", field("theta")},
        {"theta2", {{"field", "theta2"}}},
        {"color", {{"field", colors.empty() ? "label" : "color"}, {"type", "nominal"}}}};
    arcs.encoding["theta"]["stack"] = nullptr;
    if (!colors.empty()) arcs.encoding["color"]["scale"] = nullptr;
    texts.mark = {{"type", "text"}, {"radius", outer + 16}};
    texts.encoding = {{"theta", field("middle")},
                      {"text", {{"field", "label"}, {"type", "nominal"}}}};
    texts.encoding["theta"]["stack"] = nullptr;
    pie_ = true;
    add(nullptr, std::move(arcs));
    add(nullptr, std::move(texts));
}

// Vega-Lite has no polar axes: points are put where they are seen, on a square without axes.
void VegaPanel::polar(const Layer& layer) {
    const Column& angle = layer.data.numbers("x");
    const Column& distance = layer.data.numbers("y");
    if ((layer.kind != Kind::line && layer.kind != Kind::scatter) ||
        angle.size() != distance.size()) {
        ++skipped_;
        return;
    }
    const double reach =
        panel_.y.lim ? std::max(std::abs((*panel_.y.lim)[0]), std::abs((*panel_.y.lim)[1])) : 1;
    Unit unit;
    for (std::size_t i = 0; i < angle.size(); ++i) {
        if (!std::isfinite(angle[i]) || !std::isfinite(distance[i])) continue;
        const double turned =
            panel_.theta_zero_deg * std::numbers::pi / 180 + panel_.theta_direction * angle[i];
        unit.rows.push_back({{"x", distance[i] * std::cos(turned)},
                             {"y", distance[i] * std::sin(turned)},
                             {"i", i}});
    }
    const auto channel = [reach](const char* name) {
        return Json{{"field", name},
                    {"type", "quantitative"},
                    {"axis", nullptr},
                    {"scale", {{"domain", {-reach, reach}}, {"nice", false}}}};
    };
    unit.mark = {{"type", layer.kind == Kind::line ? "line" : "point"}};
    unit.encoding = {{"x", channel("x")}, {"y", channel("y")}, {"color", series_color(layer)}};
    if (layer.kind == Kind::line)
        unit.encoding["order"] = {{"field", "i"}, {"type", "quantitative"}};
    add(&layer, std::move(unit));
}

}  // namespace cellblock::charts
