// Layers as Vega-Lite marks: lines, areas, points, bars, error bars (see vega_panel.h).
#include <algorithm>
#include <cmath>
#include <string_view>

#include "charts/layer_look.h"
#include "charts/vega_panel.h"

namespace cellblock::charts {

namespace {

constexpr double px2_per_pt2 = (96.0 / 72.0) * (96.0 / 72.0);

bool rises(const Column& x) {
    return std::adjacent_find(x.begin(), x.end(), [](double a, double b) { return !(a <= b); }) ==
           x.end();
}

bool rises_between_gaps(const Column& x, const Column& y) {
    for (std::size_t i = 1; i < x.size(); ++i) {
        if (std::isfinite(x[i - 1]) && std::isfinite(y[i - 1]) && std::isfinite(x[i]) &&
            std::isfinite(y[i]) && !(x[i - 1] <= x[i])) {
            return false;
        }
    }
    return true;
}

}  // namespace

void VegaPanel::layer(const Layer& layer) {
    if (layer.kind == Kind::pie) return pie(layer);
    if (panel_.projection == Projection::polar) return polar(layer);
    if (panel_.projection != Projection::cartesian) return;
    if (!draw_layer(*this, layer)) ++skipped_;
}

// Broken at missing points into runs with an id each: no reader of the specification has to know
// how a renderer treats nulls.
void VegaPanel::line(const Layer& layer, const Column& x, const Column& y) {
    const Position& horizontal = x_of(layer);
    const Position& vertical = y_of(layer);
    Unit unit;
    int run = 0;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        Json at = horizontal.value(x[i]), value = vertical.value(y[i]);
        if (at.is_null() || value.is_null()) {
            ++run;
            continue;
        }
        unit.rows.push_back(
            {{"x", std::move(at)}, {"y", std::move(value)}, {"i", i}, {"run", run}});
    }
    unit.mark = {
        {"type", "line"}, {"clip", true}, {"strokeWidth", layer.style.width.value_or(1.5)}};
    const std::string step = layer.data.word("step");
    if (step == "pre") unit.mark["interpolate"] = "step-before";
    if (step == "mid") unit.mark["interpolate"] = "step";
    if (step == "post") unit.mark["interpolate"] = "step-after";
    if (layer.style.line == "--" || layer.style.line == "dashed") unit.mark["strokeDash"] = {6, 4};
    if (layer.style.line == ":" || layer.style.line == "dotted") unit.mark["strokeDash"] = {2, 3};
    if (layer.style.line == "-.") unit.mark["strokeDash"] = {6, 3, 2, 3};
    if (!layer.style.marker.empty() && x.size() <= 200) unit.mark["point"] = true;
    if (opacity_of(layer, 1) < 1) unit.mark["opacity"] = opacity_of(layer, 1);
    unit.encoding = {{"x", horizontal.channel("x")},
                     {"y", vertical.channel("y")},
                     {"color", series_color(layer)}};
    unit.encoding["detail"] = {{"field", "run"}, {"type", "nominal"}};
    if (horizontal.nominal() || !rises_between_gaps(x, y)) {
        unit.encoding["order"] = {{"field", "i"}, {"type", "quantitative"}};
    }
    add(&layer, std::move(unit));
}

void VegaPanel::area(const Layer& layer) {
    const Frame along = frame(layer);
    const Column& x = layer.data.numbers("x");
    const Column& low = layer.data.numbers("lo");
    const Column& high = layer.data.numbers("hi");
    Unit unit;
    int run = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        Json at = along.along.value(x[i]);
        Json bottom = along.across.value(along.across.ground(low[i])),
             top = along.across.value(high[i]);
        if (at.is_null() || bottom.is_null() || top.is_null()) {
            ++run;
            continue;
        }
        unit.rows.push_back({{"at", std::move(at)},
                             {"lo", std::move(bottom)},
                             {"hi", std::move(top)},
                             {"run", run}});
    }
    unit.mark = {{"type", "area"},
                 {"clip", true},
                 {"orient", layer.orient == Orient::vertical ? "vertical" : "horizontal"},
                 {"opacity", opacity_of(layer, layer.kind == Kind::band ? 0.3 : 0.8)}};
    unit.encoding = {{along.along_name, along.along.channel("at")},
                     {along.across_name, along.across.channel("hi")},
                     {"color", series_color(layer)},
                     {"detail", {{"field", "run"}, {"type", "nominal"}}}};
    unit.encoding[along.across_name]["stack"] = nullptr;  // both edges are given
    unit.encoding[std::string(along.across_name) + "2"] = {{"field", "lo"}};
    add(&layer, std::move(unit));
}

void VegaPanel::scatter(const Layer& layer) {
    const Column& x = layer.data.numbers("x");
    const Column& y = layer.data.numbers("y");
    const Column& size = layer.data.numbers("size");
    const Column& value = layer.data.numbers("c");
    const auto& colors = layer.data.texts("color");
    const Position& horizontal = x_of(layer);
    const Position& vertical = y_of(layer);
    Unit unit;
    for (std::size_t i = 0; i < x.size(); ++i) {
        Json at = horizontal.value(x[i]), up = vertical.value(y[i]);
        if (at.is_null() || up.is_null()) continue;
        Json row{{"x", std::move(at)}, {"y", std::move(up)}};
        if (!size.empty() && std::isfinite(size[i])) row["size"] = size[i] * px2_per_pt2;
        if (!value.empty()) row["c"] = std::isfinite(value[i]) ? Json(value[i]) : Json();
        if (!colors.empty())
            row["color"] = colors[i].empty() ? Json() : Json(colors[i].substr(0, 7));
        // A point beside its category (a strip plot) keeps its place inside the band.
        if (horizontal.nominal()) row["dx"] = horizontal.offset(x[i]);
        if (vertical.nominal()) row["dy"] = vertical.offset(y[i]);
        unit.rows.push_back(std::move(row));
    }
    unit.mark = {
        {"type", "point"}, {"filled", true}, {"clip", true}, {"opacity", opacity_of(layer, 0.9)}};
    const double fixed = layer.style.size.value_or(36) * px2_per_pt2;
    if (size.empty()) unit.mark["size"] = std::clamp(fixed, 4.0, 2000.0);
    unit.encoding = {{"x", horizontal.channel("x")},
                     {"y", vertical.channel("y")},
                     {"color", series_color(layer)}};
    if (!size.empty())
        unit.encoding["size"] = {{"field", "size"}, {"type", "quantitative"}, {"scale", nullptr}};
    if (!value.empty()) {
        unit.encoding["color"] = value_color("c");
        mapped_ = true;
    } else if (!colors.empty()) {
        unit.encoding["color"] = {{"field", "color"}, {"type", "nominal"}, {"scale", nullptr}};
    }
    if (offsets_.size() <= 1) {  // else the offset scale belongs to the bars or boxes
        const Json scale{{"domain", {-0.5, 0.5}}};
        if (horizontal.nominal())
            unit.encoding["xOffset"] = {
                {"field", "dx"}, {"type", "quantitative"}, {"scale", scale}};
        if (vertical.nominal())
            unit.encoding["yOffset"] = {
                {"field", "dy"}, {"type", "quantitative"}, {"scale", scale}};
    }
    add(&layer, std::move(unit));
}

void VegaPanel::place(Unit& unit, Json& row, const Layer& layer, const Frame& along,
                      double position, double category) {
    Json name = along.along.category(category);
    row["at"] = name.is_null() ? along.along.value(position) : std::move(name);
    if (offsets_.size() < 2) return;
    const double offset = along.along.offset(position);
    std::size_t group = 0;
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
        if (std::abs(offsets_[i] - offset) < std::abs(offsets_[group] - offset)) group = i;
    }
    row["group"] = group;
    Json groups = Json::array();
    for (std::size_t i = 0; i < offsets_.size(); ++i) groups.push_back(i);
    const bool lying = layer.orient == Orient::horizontal;
    unit.encoding[lying ? "yOffset" : "xOffset"] = {{"field", "group"},
                                                    {"type", "nominal"},
                                                    {"sort", nullptr},
                                                    {"scale", {{"domain", std::move(groups)}}}};
    if (lying) unit.encoding["yOffset"]["scale"]["reverse"] = true;
}

void VegaPanel::rectangle(const Layer& layer, const Frame& along, Unit& unit, double from,
                          double to, double low, double high, const std::string& color) {
    static_cast<void>(layer);
    Json row{{"a", along.along.value(from)},
             {"b", along.along.value(to)},
             {"lo", along.across.value(along.across.ground(low))},
             {"hi", along.across.value(high)}};
    for (const auto& item : row) {
        if (item.is_null()) return;
    }
    if (!color.empty()) row["color"] = color.substr(0, 7);
    unit.rows.push_back(std::move(row));
}

void VegaPanel::put_rect_channels(Unit& unit, const Frame& along) const {
    unit.encoding[along.along_name] = along.along.channel("a");
    unit.encoding[std::string(along.along_name) + "2"] = {{"field", "b"}};
    unit.encoding[along.across_name] = along.across.channel("hi");
    unit.encoding[std::string(along.across_name) + "2"] = {{"field", "lo"}};
}

void VegaPanel::bars(const Layer& layer) {
    const Frame along = frame(layer);
    const LayerData& data = layer.data;
    const Column& position = data.numbers("pos");
    const Column& value = data.numbers("value");
    const Column& base = data.numbers("base");
    const Column& width = data.numbers("width");
    const Column& category = data.numbers("cat");
    const auto& colors = data.texts("color");
    const bool banded = along.along.nominal() && !offsets_.empty();
    Unit unit;
    for (std::size_t i = 0; i < position.size(); ++i) {
        if (!std::isfinite(value[i])) continue;
        const double bottom = i < base.size() && std::isfinite(base[i]) ? base[i] : 0;
        const std::string color = i < colors.size() ? colors[i] : std::string();
        if (!banded) {
            const double half = (i < width.size() && width[i] > 0 ? width[i] : 0.8) / 2;
            rectangle(layer, along, unit, position[i] - half, position[i] + half, bottom,
                      bottom + value[i], color);
            continue;
        }
        Json row{{"lo", along.across.value(along.across.ground(bottom))},
                 {"hi", along.across.value(bottom + value[i])}};
        if (row["lo"].is_null() || row["hi"].is_null()) continue;
        place(unit, row, layer, along, position[i], i < category.size() ? category[i] : -1);
        if (row["at"].is_null()) continue;
        if (!color.empty()) row["color"] = color.substr(0, 7);
        unit.rows.push_back(std::move(row));
    }
    unit.mark = {{"type", banded ? "bar" : "rect"}, {"clip", true}};
    if (opacity_of(layer, 1) < 1) unit.mark["opacity"] = opacity_of(layer, 1);
    if (banded) {
        unit.mark["orient"] = layer.orient == Orient::vertical ? "vertical" : "horizontal";
        unit.encoding[along.along_name] = along.along.channel("at");
        unit.encoding[along.across_name] = along.across.channel("hi");
        unit.encoding[std::string(along.across_name) + "2"] = {{"field", "lo"}};
        unit.encoding[along.across_name]["stack"] = nullptr;
    } else {
        put_rect_channels(unit, along);
    }
    unit.encoding["color"] =
        colors.empty() ? series_color(layer)
                       : Json{{"field", "color"}, {"type", "nominal"}, {"scale", nullptr}};
    add(&layer, std::move(unit));
    if (!data.numbers("err_lo").empty())
        rule(layer, along, position, data.numbers("err_lo"), data.numbers("err_hi"));
}

void VegaPanel::hist(const Layer& layer) {
    const Frame along = frame(layer);
    const Column& edges = layer.data.numbers("edges");
    const Column& count = layer.data.numbers("count");
    const Column& base = layer.data.numbers("base");
    Unit unit;
    for (std::size_t i = 0; i < count.size(); ++i) {
        if (!std::isfinite(count[i])) continue;
        const double bottom = i < base.size() ? base[i] : 0;
        rectangle(layer, along, unit, edges[i], edges[i + 1], bottom, bottom + count[i], {});
    }
    unit.mark = {{"type", "rect"},
                 {"clip", true},
                 {"opacity", opacity_of(layer, 0.9)},
                 {"stroke", "white"},
                 {"strokeWidth", 0.5}};
    put_rect_channels(unit, along);
    unit.encoding["color"] = series_color(layer);
    add(&layer, std::move(unit));
}

// Error bars and whiskers: lines along the value axis.
void VegaPanel::rule(const Layer& layer, const Frame& along, const Column& position,
                     const Column& low, const Column& high) {
    const Column& category = layer.data.numbers("cat");
    Unit unit;
    for (std::size_t i = 0; i < position.size() && i < low.size() && i < high.size(); ++i) {
        Json row{{"lo", along.across.value(along.across.ground(low[i]))},
                 {"hi", along.across.value(high[i])}};
        place(unit, row, layer, along, position[i], i < category.size() ? category[i] : -1);
        if (row["lo"].is_null() || row["hi"].is_null() || row["at"].is_null()) continue;
        unit.rows.push_back(std::move(row));
    }
    unit.mark = {{"type", "rule"}, {"clip", true}};
    const bool own_color = layer.kind == Kind::errorbar;
    unit.encoding[along.along_name] = along.along.channel("at");
    unit.encoding[along.across_name] = along.across.channel("lo");
    unit.encoding[std::string(along.across_name) + "2"] = {{"field", "hi"}};
    if (own_color) {
        unit.encoding["color"] = series_color(layer);
    } else {
        unit.mark["color"] = "#333333";
    }
    add(&layer, std::move(unit));
}

void VegaPanel::errors(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& x = data.numbers("x");
    const Column& y = data.numbers("y");
    const Frame upright{x_of(layer), y_of(layer), "x", "y"};
    const Frame lying{y_of(layer), x_of(layer), "y", "x"};
    if (!data.numbers("y_lo").empty())
        rule(layer, upright, x, data.numbers("y_lo"), data.numbers("y_hi"));
    if (!data.numbers("x_lo").empty())
        rule(layer, lying, y, data.numbers("x_lo"), data.numbers("x_hi"));
    Layer points = layer;
    points.style.size = 20;
    if (layer.style.line != "none") line(layer, x, y);
    if (!rises(x) || layer.style.line == "none" || !layer.style.marker.empty()) scatter(points);
}

void VegaPanel::stems(const Layer& layer) {
    const Frame along = frame(layer);
    const Column& position = layer.data.numbers("pos");
    const Column& value = layer.data.numbers("value");
    Column base = layer.data.numbers("base");
    base.resize(position.size(), 0);
    rule(layer, along, position, base, value);
    Unit unit;
    for (std::size_t i = 0; i < position.size(); ++i) {
        Json row{{"at", along.along.value(position[i])}, {"v", along.across.value(value[i])}};
        if (!row["at"].is_null() && !row["v"].is_null()) unit.rows.push_back(std::move(row));
    }
    unit.mark = {{"type", "point"}, {"filled", true}};
    unit.encoding = {{along.along_name, along.along.channel("at")},
                     {along.across_name, along.across.channel("v")},
                     {"color", series_color(layer)}};
    add(&layer, std::move(unit));
}

}  // namespace cellblock::charts
