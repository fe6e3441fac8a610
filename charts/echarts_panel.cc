// A panel's grid and axes, references and notes (see echarts_panel.h); series in echarts_marks.cc.
#include "charts/echarts_panel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "charts/layer_look.h"
#include "charts/statistics.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

std::string percent(double value) {
    return format_number(value, 5) + "%";
}

// The category that a position belongs to, by the order along the axis; -1 when there is none.
std::ptrdiff_t category_index(const Axis& axis, double value) {
    std::ptrdiff_t best = -1;
    double distance = INFINITY;
    for (std::size_t i = 0; i < axis.positions.size(); ++i) {
        const double away = std::abs(axis.positions[i] - value);
        if (away < distance) {
            distance = away;
            best = static_cast<std::ptrdiff_t>(i);
        }
    }
    return best;
}

bool is_named(const Axis& axis) {
    return axis.scale == Scale::categorical && !axis.categories.empty();
}

std::vector<std::string> cell_names(const Layer& layer, const char* cats, const char* edges,
                                    const Axis& axis, std::size_t count) {
    std::vector<std::string> names = layer.data.texts(cats);
    const Column& borders = layer.data.numbers(edges);
    for (std::size_t i = names.size(); i < count; ++i) {
        names.push_back(i + 1 < borders.size()
                            ? axis_value_text(axis, (borders[i] + borders[i + 1]) / 2, 5)
                            : std::to_string(i));
    }
    return names;
}

std::vector<std::string> point_names(const Axis& axis, const Column& points) {
    std::vector<std::string> names;
    for (const double point : points) names.push_back(axis_value_text(axis, point, 5));
    return names;
}

bool is_cells(const Layer& layer) {
    return layer.kind == Kind::heatmap || layer.kind == Kind::hist2d ||
           (layer.kind == Kind::contourf && layer.data.has("z"));
}

}  // namespace

EchartsPanel::EchartsPanel(const Panel& panel, EchartsOption& option, const EchartsPlace& place)
    : panel_(panel), option_(option), place_(place) {}

void EchartsPanel::add() {
    if (panel_.projection == Projection::polar) {
        add_polar_axes();
        for (const Layer& item : panel_.layers) polar(item);
        return;
    }
    const auto is_pie = [](const Layer& item) { return item.kind == Kind::pie; };
    const bool round =
        !panel_.layers.empty() && std::all_of(panel_.layers.begin(), panel_.layers.end(), is_pie);
    if (!round) add_axes();
    const std::size_t before = option_.series.size();
    for (const Layer& item : panel_.layers) layer(item);
    if (option_.series.size() == before) {
        option_.graphic.push_back({{"type", "text"},
                                   {"left", percent(place_.left + place_.width / 4)},
                                   {"top", percent(place_.top + place_.height / 2)},
                                   {"style",
                                    {{"text", "This chart has no ECharts form; see its picture."},
                                     {"fill", "#888888"}}}});
    }
    if (round) return;
    refs();
    notes();
}

Json EchartsPanel::axis_json(const Axis& axis, const std::vector<std::string>& names) const {
    Json result{{"name", axis.label.value_or("")}, {"nameLocation", "middle"}, {"nameGap", 30}};
    if (axis.inverted) result["inverse"] = true;
    if (!names.empty() || is_named(axis)) {
        result["type"] = "category";
        result["data"] = names.empty() ? axis.categories : names;
        return result;
    }
    if (axis.scale == Scale::datetime) {
        result["type"] = "time";
    } else if (axis.scale == Scale::log) {
        result["type"] = "log";
        if (axis.base && *axis.base > 1) result["logBase"] = *axis.base;
    } else {
        result["type"] = "value";
        result["scale"] = true;
    }
    if (axis.lim) {
        const double low = std::min((*axis.lim)[0], (*axis.lim)[1]);
        if (axis.scale != Scale::log || low > 0) result["min"] = low;
        result["max"] = std::max((*axis.lim)[0], (*axis.lim)[1]);
    }
    return result;
}

void EchartsPanel::add_axes() {
    const std::size_t grid = option_.grid.size();
    option_.grid.push_back({{"left", percent(place_.left)},
                            {"top", percent(place_.top)},
                            {"width", percent(place_.width)},
                            {"height", percent(place_.height)},
                            {"containLabel", false}});
    std::vector<std::string> x_names, y_names;
    for (const Layer& item : panel_.layers) {
        if (!is_cells(item)) continue;
        in_cells_ = true;
        const Grid& v = item.kind == Kind::contourf ? item.data.grid("z") : item.data.grid("v");
        if (item.kind == Kind::contourf) {
            x_names = point_names(panel_.x, item.data.numbers("z_x"));
            y_names = point_names(panel_.y, item.data.numbers("z_y"));
        } else {
            x_names = cell_names(item, "x_cats", "x_edges", panel_.x, v.columns);
            y_names = cell_names(item, "y_cats", "y_edges", panel_.y, v.rows);
        }
        break;
    }
    candles_ = !panel_.layers.empty() && panel_.layers.front().kind == Kind::candlestick;
    if (candles_) x_names = point_names(panel_.x, panel_.layers.front().data.numbers("t"));
    const auto add = [&](Json& list, Json axis) {
        axis["gridIndex"] = grid;
        list.push_back(std::move(axis));
        return list.size() - 1;
    };
    x_index_ = add(option_.x_axis, axis_json(panel_.x, x_names));
    y_index_ = add(option_.y_axis, axis_json(panel_.y, y_names));
    if (panel_.x2) {
        Json axis = axis_json(*panel_.x2, {});
        axis["position"] = "top";
        x2_index_ = add(option_.x_axis, std::move(axis));
    }
    if (panel_.y2) {
        Json axis = axis_json(*panel_.y2, {});
        axis["position"] = "right";
        y2_index_ = add(option_.y_axis, std::move(axis));
    }
}

void EchartsPanel::add_polar_axes() {
    polar_index_ = option_.polar.size();
    option_.polar.push_back(
        {{"center",
          {percent(place_.left + place_.width / 2), percent(place_.top + place_.height / 2)}},
         {"radius", percent(std::min(place_.width, place_.height) * 0.8)}});
    option_.angle_axis.push_back({{"type", "value"},
                                  {"min", 0},
                                  {"max", 360},
                                  {"startAngle", panel_.theta_zero_deg},
                                  {"clockwise", panel_.theta_direction < 0},
                                  {"polarIndex", polar_index_}});
    Json radius{{"type", panel_.y.scale == Scale::log ? "log" : "value"},
                {"polarIndex", polar_index_}};
    if (panel_.y.lim) radius["max"] = std::max((*panel_.y.lim)[0], (*panel_.y.lim)[1]);
    option_.radius_axis.push_back(std::move(radius));
}

Json EchartsPanel::value(const Axis& axis, double value) const {
    if (!std::isfinite(value)) return nullptr;
    if (is_named(axis) && !in_cells_) {
        const std::ptrdiff_t index = category_index(axis, value);
        return index < 0 ? Json() : Json(index);
    }
    if (axis.scale == Scale::datetime) return value + axis.tz_offset_min.value_or(0) * 60'000.0;
    if (axis.scale == Scale::log && value <= 0) return nullptr;
    return value;
}

Json EchartsPanel::point(const Layer& layer, double x, double y) const {
    return Json::array({value(x_axis(panel_, layer), x), value(y_axis(panel_, layer), y)});
}

Json EchartsPanel::placed(const Layer& layer, double along, double across) const {
    if (layer.orient == Orient::horizontal) return point(layer, across, along);
    return point(layer, along, across);
}

Json EchartsPanel::segment(const Layer& layer, double x0, double y0, double x1, double y1) const {
    return {{"coords", Json::array({point(layer, x0, y0), point(layer, x1, y1)})}};
}

Json EchartsPanel::upright(const Layer& layer, double at, double low, double high) const {
    return {{"coords", Json::array({placed(layer, at, low), placed(layer, at, high)})}};
}

std::string EchartsPanel::color_of(const Layer& layer) const {
    return charts::color_of(panel_, layer);
}

Json EchartsPanel::series(const Layer& layer, const char* type) const {
    Json result{{"type", type},
                {"name", layer.label.value_or("")},
                {"itemStyle", {{"color", color_of(layer)}}},
                {"xAxisIndex", layer.side == Side::x2 && x2_index_ ? *x2_index_ : x_index_},
                {"yAxisIndex", layer.side == Side::y2 && y2_index_ ? *y2_index_ : y_index_}};
    if (layer.style.alpha || layer.color.size() == 9) {
        result["itemStyle"]["opacity"] =
            std::clamp(layer.style.alpha.value_or(alpha_of(layer.color)), 0.05, 1.0);
    }
    return result;
}

Json EchartsPanel::lines(const Layer& layer, Json data) const {
    // A line with a missing end is none.
    Json whole = Json::array();
    for (Json& item : data) {
        bool complete = true;
        for (const Json& coordinate : item["coords"]) {
            complete = complete && !coordinate[0].is_null() && !coordinate[1].is_null();
        }
        if (complete) whole.push_back(std::move(item));
    }
    Json result = series(layer, "lines");
    result["coordinateSystem"] = "cartesian2d";
    result["polyline"] = true;
    result["symbol"] = Json::array({"none", "none"});
    result["lineStyle"] = {{"color", color_of(layer)}, {"width", 1.5}, {"opacity", 1}};
    result["data"] = std::move(whole);
    return result;
}

void EchartsPanel::color_by_value(std::size_t dimension, const Column& values) {
    const auto found = extremes(values);
    const ColorRamp ramp(panel_.color, found ? values[found->lowest] : 0,
                         found ? values[found->highest] : 1);
    Json map{{"type", "continuous"},
             {"min", ramp.low()},
             {"max", ramp.high()},
             {"dimension", dimension},
             {"seriesIndex", option_.series.size()},
             {"calculable", true},
             {"orient", "vertical"},
             {"right", "1%"},
             {"top", "middle"},
             {"inRange", {{"color", ramp.stops()}}}};
    if (panel_.color && panel_.color->label) map["text"] = {*panel_.color->label, ""};
    option_.visual_map.push_back(std::move(map));
}

void EchartsPanel::refs() {
    for (const Ref& ref : panel_.refs) {
        Layer owner;
        owner.side = ref.side;
        owner.color = ref.color.empty() ? "#888888" : ref.color;
        const Axis& x = x_axis(panel_, owner);
        const Axis& y = y_axis(panel_, owner);
        Json holder = series(owner, "line");
        holder["name"] = "";
        holder["data"] = Json::array();
        const auto mark = [&](const char* axis, const Json& at) {
            holder["markLine"] = {
                {"silent", true},
                {"symbol", "none"},
                {"lineStyle", {{"color", solid(owner.color)}}},
                {"label", {{"show", ref.label.has_value()}, {"formatter", "{b}"}}},
                {"data", {{{axis, at}, {"name", ref.label.value_or("")}}}}};
        };
        const auto span = [&](const char* axis, const Json& low, const Json& high) {
            holder["markArea"] = {
                {"silent", true},
                {"itemStyle", {{"color", solid(owner.color)}, {"opacity", 0.2}}},
                {"data", Json::array({Json::array({{{axis, low}}, {{axis, high}}})})}};
        };
        switch (ref.kind) {
            case Ref::Kind::hline:
                mark("yAxis", value(y, ref.value));
                break;
            case Ref::Kind::vline:
                mark("xAxis", value(x, ref.value));
                break;
            case Ref::Kind::hspan:
                span("yAxis", value(y, ref.lo), value(y, ref.hi));
                break;
            case Ref::Kind::vspan:
                span("xAxis", value(x, ref.lo), value(x, ref.hi));
                break;
            case Ref::Kind::line:
                holder = lines(
                    owner,
                    Json::array({segment(owner, ref.p1[0], ref.p1[1], ref.p2[0], ref.p2[1])}));
                break;
        }
        option_.series.push_back(std::move(holder));
    }
}

void EchartsPanel::notes() {
    Json data = Json::array();
    for (const Note& note : panel_.notes) {
        if (!note.at) continue;
        data.push_back(
            {{"name", note.text}, {"value", point(Layer{}, (*note.at)[0], (*note.at)[1])}});
    }
    if (data.empty()) return;
    Json texts = series(Layer{}, "scatter");
    texts["name"] = "";
    texts["symbolSize"] = 1;
    // The text is an item's name, which this fixed template puts in: it is no template itself.
    texts["label"] = {{"show", true}, {"formatter", "{b}"}, {"position", "right"}};
    texts["data"] = std::move(data);
    option_.series.push_back(std::move(texts));
}

}  // namespace cellblock::charts
