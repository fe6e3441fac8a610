// Layers as ECharts series (see echarts_panel.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "charts/describe.h"
#include "charts/echarts_panel.h"
#include "charts/layer_look.h"
#include "charts/statistics.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

const char* dash_name(const std::string& line) {
    if (line == "--" || line == "dashed" || line == "dash") return "dashed";
    if (line == ":" || line == "dotted" || line == "dot" || line == "-.") return "dotted";
    return "solid";
}

}  // namespace

void EchartsPanel::layer(const Layer& layer) {
    if (layer.kind == Kind::pie) return pie(layer);
    draw_layer(*this,
               layer);  // what has no flat form: the panel says so when nothing else is in it
}

void EchartsPanel::line(const Layer& layer, const Column& x, const Column& y) {
    Json result = series(layer, "line");
    result["showSymbol"] = !layer.style.marker.empty() && x.size() <= 200;
    result["connectNulls"] = false;
    result["lineStyle"] = {{"width", std::clamp(layer.style.width.value_or(1.5), 0.5, 8.0)},
                           {"type", dash_name(layer.style.line)}};
    const std::string step = layer.data.word("step");
    if (step == "pre") result["step"] = "start";
    if (step == "mid") result["step"] = "middle";
    if (step == "post") result["step"] = "end";
    Json data = Json::array();
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        data.push_back(point(layer, x[i], y[i]));
    }
    result["data"] = std::move(data);
    option_.series.push_back(std::move(result));
}

// Two lines on top of each other: the lower edge unseen, the distance to the upper one filled.
void EchartsPanel::area(const Layer& layer) {
    const Column& x = layer.data.numbers("x");
    const Column& low = layer.data.numbers("lo");
    const Column& high = layer.data.numbers("hi");
    const bool stacks =
        layer.orient == Orient::vertical && y_axis(panel_, layer).scale == Scale::linear;
    Column height(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) height[i] = stacks ? high[i] - low[i] : high[i];
    const std::string stack = "area-" + layer.id;
    for (const bool upper : {false, true}) {
        Json edge = series(layer, "line");
        if (!upper) edge["name"] = "";
        edge["showSymbol"] = false;
        edge["lineStyle"] = {{"width", stacks ? 0.0 : 1.5}};
        if (stacks) edge["stack"] = stack;
        if (upper && stacks)
            edge["areaStyle"] = {{"opacity", layer.kind == Kind::band ? 0.3 : 0.7}};
        Json data = Json::array();
        for (std::size_t i = 0; i < x.size(); ++i) {
            data.push_back(placed(layer, x[i], upper ? height[i] : low[i]));
        }
        edge["data"] = std::move(data);
        option_.series.push_back(std::move(edge));
    }
}

void EchartsPanel::scatter(const Layer& layer) {
    const Column& x = layer.data.numbers("x");
    const Column& y = layer.data.numbers("y");
    const Column& size = layer.data.numbers("size");
    const Column& value = layer.data.numbers("c");
    const auto& colors = layer.data.texts("color");
    Json result = series(layer, "scatter");
    result["symbolSize"] = diameter_px(layer.style.size.value_or(36));
    Json data = Json::array();
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        Json at = point(layer, x[i], y[i]);
        if (at[0].is_null() || at[1].is_null()) continue;
        if (!value.empty()) at.push_back(std::isfinite(value[i]) ? Json(value[i]) : Json());
        if (size.empty() && (colors.empty() || !value.empty())) {
            data.push_back(std::move(at));
            continue;
        }
        Json item{{"value", std::move(at)}};
        if (!size.empty() && std::isfinite(size[i])) item["symbolSize"] = diameter_px(size[i]);
        if (value.empty() && i < colors.size() && !colors[i].empty()) {
            item["itemStyle"] = {{"color", solid(colors[i])}};
        }
        data.push_back(std::move(item));
    }
    result["data"] = std::move(data);
    if (!value.empty()) color_by_value(2, value);
    option_.series.push_back(std::move(result));
}

// Bars that do not begin at zero stand on an unseen one.
void EchartsPanel::bars(const Layer& layer) {
    const Column& position = layer.data.numbers("pos");
    const Column& height = layer.data.numbers("value");
    const Column& base = layer.data.numbers("base");
    const auto& colors = layer.data.texts("color");
    Json result = series(layer, "bar");
    Json ground = result, data = Json::array(), below = Json::array();
    bool raised = false;
    for (std::size_t i = 0; i < position.size(); ++i) {
        const double bottom = value_at(base, i, 0);
        raised = raised || bottom != 0;
        Json item{{"value", placed(layer, position[i], height[i])}};
        if (i < colors.size() && !colors[i].empty()) {
            item["itemStyle"] = {{"color", solid(colors[i])}};
        }
        data.push_back(std::move(item));
        below.push_back(placed(layer, position[i], bottom));
    }
    if (raised) {
        const std::string stack = "bar-" + layer.id;
        ground["name"] = "";
        ground["stack"] = result["stack"] = stack;
        ground["itemStyle"] = {{"color", "transparent"}};
        ground["silent"] = true;
        ground["data"] = std::move(below);
        // All of a category's stacked bars in one place.
        ground["barGap"] = result["barGap"] = "-100%";
        option_.series.push_back(std::move(ground));
    }
    result["data"] = std::move(data);
    option_.series.push_back(std::move(result));
    Json errors = Json::array();
    const Column& low = layer.data.numbers("err_lo");
    const Column& high = layer.data.numbers("err_hi");
    for (std::size_t i = 0; i < position.size() && i < low.size() && i < high.size(); ++i) {
        errors.push_back(upright(layer, position[i], low[i], high[i]));
    }
    if (errors.empty()) return;
    Json marks = lines(layer, std::move(errors));
    marks["name"] = "";
    marks["lineStyle"]["color"] = "#555555";
    option_.series.push_back(std::move(marks));
}

// The outline of the bins: right for edges at any distance.
void EchartsPanel::hist(const Layer& layer) {
    const Column& edges = layer.data.numbers("edges");
    const Column& count = layer.data.numbers("count");
    const Column& base = layer.data.numbers("base");
    Json result = series(layer, "line");
    Json data = Json::array();
    for (std::size_t i = 0; i < count.size(); ++i) {
        const double bottom = value_at(base, i, 0);
        for (const auto& [edge, height] :
             {std::pair(edges[i], bottom), std::pair(edges[i], bottom + count[i]),
              std::pair(edges[i + 1], bottom + count[i]), std::pair(edges[i + 1], bottom)}) {
            data.push_back(placed(layer, edge, height));
        }
    }
    result["showSymbol"] = false;
    result["lineStyle"] = {{"width", 1}};
    if (layer.orient == Orient::vertical) result["areaStyle"] = {{"opacity", 0.7}};
    result["data"] = std::move(data);
    option_.series.push_back(std::move(result));
}

void EchartsPanel::errors(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& x = data.numbers("x");
    const Column& y = data.numbers("y");
    Json marks = Json::array();
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (i < data.numbers("y_lo").size())
            marks.push_back(
                segment(layer, x[i], data.numbers("y_lo")[i], x[i], data.numbers("y_hi")[i]));
        if (i < data.numbers("x_lo").size())
            marks.push_back(
                segment(layer, data.numbers("x_lo")[i], y[i], data.numbers("x_hi")[i], y[i]));
    }
    option_.series.push_back(lines(layer, std::move(marks)));
    if (!layer.style.line.empty() && layer.style.line != "none") return line(layer, x, y);
    scatter(layer);
}

void EchartsPanel::stems(const Layer& layer) {
    const Column& position = layer.data.numbers("pos");
    const Column& top = layer.data.numbers("value");
    Json marks = Json::array(), data = Json::array();
    for (std::size_t i = 0; i < position.size(); ++i) {
        marks.push_back(
            upright(layer, position[i], value_at(layer.data.numbers("base"), i, 0), top[i]));
        data.push_back(placed(layer, position[i], top[i]));
    }
    option_.series.push_back(lines(layer, std::move(marks)));
    Json heads = series(layer, "scatter");
    heads["symbolSize"] = 7;
    heads["data"] = std::move(data);
    option_.series.push_back(std::move(heads));
}

void EchartsPanel::boxes(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& position = data.numbers("pos");
    const Axis& axis = position_axis(panel_, layer);
    const bool named = axis.scale == Scale::categorical && !axis.categories.empty();
    Json marks = Json::array(), outliers = Json::array();
    // A box's place is its index on the axis of names.
    Json rows =
        named ? Json(std::vector<Json>(axis.categories.size(), Json::array())) : Json::array();
    for (std::size_t i = 0; i < position.size(); ++i) {
        Json numbers = Json::array();
        for (const char* name : {"min", "q1", "median", "q3", "max"}) {
            numbers.push_back(value(value_axis(panel_, layer), data.numbers(name)[i]));
        }
        const Json place = value(axis, position[i]);
        if (named && place.is_number() && place.get<std::size_t>() < rows.size()) {
            rows[place.get<std::size_t>()] = std::move(numbers);
        } else {
            marks.push_back(
                upright(layer, position[i], data.numbers("min")[i], data.numbers("max")[i]));
        }
        if (i >= data.lists("outliers").size()) continue;
        for (const double outlier : data.lists("outliers")[i]) {
            outliers.push_back(placed(layer, position[i], outlier));
        }
    }
    if (named) {
        Json result = series(layer, "boxplot");
        result["itemStyle"] = {{"borderColor", color_of(layer)}};
        if (layer.orient == Orient::horizontal) result["layout"] = "vertical";
        result["data"] = std::move(rows);
        option_.series.push_back(std::move(result));
    } else {
        option_.series.push_back(lines(layer, std::move(marks)));
    }
    if (outliers.empty()) return;
    Json points = series(layer, "scatter");
    points["name"] = "";
    points["symbolSize"] = 5;
    points["data"] = std::move(outliers);
    option_.series.push_back(std::move(points));
}

void EchartsPanel::violins(const Layer& layer) {
    const LayerData& data = layer.data;
    Json outlines = Json::array();
    for (std::size_t i = 0; i < data.numbers("pos").size(); ++i) {
        const double middle = data.numbers("pos")[i];
        const Column& coords = data.lists("coords")[i];
        Json coords_of = Json::array();
        for (std::size_t j = 0; j < coords.size(); ++j) {
            coords_of.push_back(placed(layer, middle - data.lists("half_lo")[i][j], coords[j]));
        }
        for (std::size_t j = coords.size(); j-- > 0;) {
            coords_of.push_back(placed(layer, middle + data.lists("half_hi")[i][j], coords[j]));
        }
        outlines.push_back({{"coords", std::move(coords_of)}});
    }
    option_.series.push_back(lines(layer, std::move(outlines)));
}

void EchartsPanel::cells(const Layer& layer) {
    grid(layer, layer.data.grid("v"));
}

void EchartsPanel::grid(const Layer& layer, const Grid& grid) {
    Json data = Json::array();
    for (std::size_t row = 0; row < grid.rows; ++row) {
        for (std::size_t column = 0; column < grid.columns; ++column) {
            const double at = grid.at(row, column);
            if (std::isfinite(at)) data.push_back(Json::array({column, row, at}));
        }
    }
    color_by_value(2, grid.values);
    Json result = series(layer, "heatmap");
    result.erase("itemStyle");
    result["label"] = {{"show", grid.values.size() <= 100}};
    result["data"] = std::move(data);
    option_.series.push_back(std::move(result));
}

void EchartsPanel::contour(const Layer& layer) {
    const LayerData& data = layer.data;
    if (layer.kind == Kind::contourf && data.has("z")) return grid(layer, data.grid("z"));
    if (in_cells_) return;  // the axes name cells: a line between them has no place
    const auto found = extremes(data.numbers("levels"));
    const ColorRamp ramp(panel_.color, found ? data.numbers("levels")[found->lowest] : 0,
                         found ? data.numbers("levels")[found->highest] : 1);
    Json paths = Json::array();
    for (std::size_t i = 0; i < data.numbers("path_level").size(); ++i) {
        Json coords = Json::array();
        const Column& x = data.lists("path_x")[i];
        for (std::size_t j = 0; j < x.size(); ++j) {
            coords.push_back(point(layer, x[j], data.lists("path_y")[i][j]));
        }
        const std::string color =
            layer.color.empty() ? ramp.color(data.numbers("path_level")[i]) : color_of(layer);
        paths.push_back({{"coords", std::move(coords)}, {"lineStyle", {{"color", color}}}});
    }
    option_.series.push_back(lines(layer, std::move(paths)));
}

void EchartsPanel::hexbin(const Layer& layer) {
    const LayerData& data = layer.data;
    Json points = Json::array();
    for (std::size_t i = 0; i < data.numbers("x").size(); ++i) {
        Json at = point(layer, data.numbers("x")[i], data.numbers("y")[i]);
        if (at[0].is_null() || at[1].is_null()) continue;
        at.push_back(data.numbers("v")[i]);
        points.push_back(std::move(at));
    }
    color_by_value(2, data.numbers("v"));
    Json result = series(layer, "scatter");
    result["symbol"] = "path://M0,-1L0.87,-0.5L0.87,0.5L0,1L-0.87,0.5L-0.87,-0.5Z";
    result["symbolSize"] = 14;
    result["data"] = std::move(points);
    option_.series.push_back(std::move(result));
}

void EchartsPanel::arrows(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& x = data.numbers("x");
    double longest = 0, room = 0;
    const auto found = extremes(x);
    if (found)
        room = (x[found->highest] - x[found->lowest]) / std::sqrt(static_cast<double>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double length = std::hypot(data.numbers("u")[i], data.numbers("v")[i]);
        if (std::isfinite(length)) longest = std::max(longest, length);
    }
    const double scale = longest > 0 ? (room > 0 ? room : 1) / longest : 0;
    Json marks = Json::array();
    for (std::size_t i = 0; i < x.size(); ++i) {
        marks.push_back(segment(layer, x[i], data.numbers("y")[i],
                                x[i] + data.numbers("u")[i] * scale,
                                data.numbers("y")[i] + data.numbers("v")[i] * scale));
    }
    Json result = lines(layer, std::move(marks));
    result["symbol"] = Json::array({"none", "arrow"});
    result["symbolSize"] = 6;
    option_.series.push_back(std::move(result));
}

}  // namespace cellblock::charts
