// Layers as Plotly traces (see plotly_panel.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "charts/layer_look.h"
#include "charts/plotly_panel.h"
#include "charts/statistics.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

const char* dash_name(const std::string& line) {
    if (line == "--" || line == "dashed" || line == "dash") return "dash";
    if (line == ":" || line == "dotted" || line == "dot") return "dot";
    if (line == "-." || line == "dashdot") return "dashdot";
    return "solid";
}

Json difference(const Column& upper, const Column& lower) {
    Column result;
    for (std::size_t i = 0; i < upper.size() && i < lower.size(); ++i) {
        result.push_back(std::max(upper[i] - lower[i], 0.0));
    }
    return column_json(result);
}

bool lies(const Layer& layer) {
    return layer.orient == Orient::horizontal;
}

const char* along(const Layer& layer) {
    return lies(layer) ? "y" : "x";
}
const char* across(const Layer& layer) {
    return lies(layer) ? "x" : "y";
}

}  // namespace

void PlotlyPanel::layer(const Layer& layer) {
    if (panel_.projection == Projection::polar) return polar(layer);
    if (layer.kind == Kind::pie) return pie(layer);
    if (layer.kind == Kind::table) return table(layer);
    if (layer.kind == Kind::line3d || layer.kind == Kind::scatter3d ||
        layer.kind == Kind::surface) {
        return spatial(layer);
    }
    const std::size_t before = traces_.size();
    draw_layer(*this, layer);
    flat_ = flat_ || traces_.size() > before;
}

void PlotlyPanel::line(const Layer& layer, const Column& x, const Column& y) {
    Json result = trace(layer, "scatter");
    result["mode"] = layer.style.marker.empty() || x.size() > 500 ? "lines" : "lines+markers";
    result["x"] = column(x_axis(panel_, layer), x);
    result["y"] = column(y_axis(panel_, layer), y);
    result["connectgaps"] = false;
    result["opacity"] = opacity_of(layer, 1);
    result["line"] = {{"color", color_of(layer)},
                      {"width", std::clamp(layer.style.width.value_or(1.5), 0.5, 8.0)},
                      {"dash", dash_name(layer.style.line)}};
    const std::string step = layer.data.word("step");
    if (step == "pre") result["line"]["shape"] = "vh";
    if (step == "mid") result["line"]["shape"] = "hvh";
    if (step == "post") result["line"]["shape"] = "hv";
    traces_.push_back(std::move(result));
}

void PlotlyPanel::area(const Layer& layer) {
    Json lower = trace(layer, "scatter"), upper = trace(layer, "scatter");
    const Json at = column(position_axis(panel_, layer), layer.data.numbers("x"));
    lower[along(layer)] = upper[along(layer)] = at;
    lower[across(layer)] = column(value_axis(panel_, layer), layer.data.numbers("lo"));
    upper[across(layer)] = column(value_axis(panel_, layer), layer.data.numbers("hi"));
    lower["mode"] = upper["mode"] = "lines";
    lower["line"] = upper["line"] = {{"width", 0}, {"color", color_of(layer)}};
    lower["showlegend"] = false;
    lower["hoverinfo"] = "skip";
    upper["fill"] = lies(layer) ? "tonextx" : "tonexty";
    const Rgb rgb = rgb_of(color_of(layer));
    upper["fillcolor"] = "rgba(" + format_number(rgb.red) + "," + format_number(rgb.green) + "," +
                         format_number(rgb.blue) + "," +
                         format_number(opacity_of(layer, layer.kind == Kind::band ? 0.3 : 0.8), 3) +
                         ")";
    traces_.push_back(std::move(lower));
    traces_.push_back(std::move(upper));
}

void PlotlyPanel::scatter(const Layer& layer) {
    const Column& size = layer.data.numbers("size");
    const Column& value = layer.data.numbers("c");
    const auto& colors = layer.data.texts("color");
    Json result = trace(layer, "scatter");
    result["mode"] = "markers";
    result["x"] = column(x_axis(panel_, layer), layer.data.numbers("x"));
    result["y"] = column(y_axis(panel_, layer), layer.data.numbers("y"));
    Json marker{{"color", color_of(layer)}};
    if (!value.empty()) {
        marker = marker_by_value(value);
    } else if (!colors.empty()) {
        marker["color"] = Json::array();
        for (const std::string& color : colors) {
            marker["color"].push_back(color.empty() ? color_of(layer) : solid(color));
        }
    }
    marker["size"] = diameter_px(layer.style.size.value_or(36));
    if (!size.empty()) {
        Column diameters;
        for (const double area : size) diameters.push_back(diameter_px(area));
        marker["size"] = column_json(diameters);
    }
    marker["opacity"] = opacity_of(layer, 0.9);
    result["marker"] = std::move(marker);
    traces_.push_back(std::move(result));
}

void PlotlyPanel::bars(const Layer& layer) {
    const LayerData& data = layer.data;
    const auto& colors = data.texts("color");
    Json result = trace(layer, "bar");
    result["orientation"] = lies(layer) ? "h" : "v";
    result[along(layer)] = column(position_axis(panel_, layer), data.numbers("pos"));
    result[across(layer)] = column_json(data.numbers("value"));
    if (!data.numbers("base").empty()) {
        result["base"] = column(value_axis(panel_, layer), data.numbers("base"));
    }
    if (!data.numbers("width").empty()) result["width"] = column_json(data.numbers("width"));
    result["marker"] = {{"color", color_of(layer)}, {"opacity", opacity_of(layer, 1)}};
    if (!colors.empty()) {
        Json list = Json::array();
        for (const std::string& color : colors) {
            list.push_back(color.empty() ? color_of(layer) : solid(color));
        }
        result["marker"]["color"] = std::move(list);
    }
    const Column& low = data.numbers("err_lo");
    const Column& high = data.numbers("err_hi");
    if (!low.empty() && !high.empty()) {
        Column top = data.numbers("value");
        for (std::size_t i = 0; i < top.size() && i < data.numbers("base").size(); ++i) {
            top[i] += data.numbers("base")[i];
        }
        result[lies(layer) ? "error_x" : "error_y"] = {{"type", "data"},
                                                       {"symmetric", false},
                                                       {"array", difference(high, top)},
                                                       {"arrayminus", difference(top, low)}};
    }
    traces_.push_back(std::move(result));
}

void PlotlyPanel::hist(const Layer& layer) {
    const Column& edges = layer.data.numbers("edges");
    const Column& count = layer.data.numbers("count");
    Column middle, width;
    for (std::size_t i = 0; i < count.size(); ++i) {
        middle.push_back((edges[i] + edges[i + 1]) / 2);
        width.push_back(edges[i + 1] - edges[i]);
    }
    Json result = trace(layer, "bar");
    result["orientation"] = lies(layer) ? "h" : "v";
    result[along(layer)] = column(position_axis(panel_, layer), middle);
    result[across(layer)] = column_json(count);
    result["width"] = column_json(width);
    if (!layer.data.numbers("base").empty()) {
        result["base"] = column_json(layer.data.numbers("base"));
    }
    result["marker"] = {{"color", color_of(layer)}, {"opacity", opacity_of(layer, 0.9)}};
    traces_.push_back(std::move(result));
}

void PlotlyPanel::errors(const Layer& layer) {
    const LayerData& data = layer.data;
    Json result = trace(layer, "scatter");
    const bool joined = !layer.style.line.empty() && layer.style.line != "none";
    result["mode"] = joined ? "lines+markers" : "markers";
    result["x"] = column(x_axis(panel_, layer), data.numbers("x"));
    result["y"] = column(y_axis(panel_, layer), data.numbers("y"));
    result["marker"] = {{"color", color_of(layer)}};
    for (const auto& [name, middle, low, high] :
         {std::array{"error_x", "x", "x_lo", "x_hi"}, std::array{"error_y", "y", "y_lo", "y_hi"}}) {
        if (data.numbers(low).empty()) continue;
        result[name] = {{"type", "data"},
                        {"symmetric", false},
                        {"array", difference(data.numbers(high), data.numbers(middle))},
                        {"arrayminus", difference(data.numbers(middle), data.numbers(low))}};
    }
    traces_.push_back(std::move(result));
}

Json PlotlyPanel::segments(const Layer& layer, Json x, Json y) const {
    Json result = trace(layer, "scatter");
    result["mode"] = "lines";
    result["x"] = std::move(x);
    result["y"] = std::move(y);
    result["line"] = {{"color", color_of(layer)}, {"width", 1.5}};
    return result;
}

void PlotlyPanel::stems(const Layer& layer) {
    const Column& position = layer.data.numbers("pos");
    const Column& top = layer.data.numbers("value");
    const Column& base = layer.data.numbers("base");
    const Axis& axis = position_axis(panel_, layer);
    Json at = Json::array(), height = Json::array();
    for (std::size_t i = 0; i < position.size(); ++i) {
        at.insert(at.end(), {value(axis, position[i]), value(axis, position[i]), nullptr});
        height.insert(height.end(), {Json(i < base.size() ? base[i] : 0.0),
                                     value(value_axis(panel_, layer), top[i]), nullptr});
    }
    Json stems = segments(layer, lies(layer) ? height : at, lies(layer) ? at : height);
    stems["showlegend"] = false;
    stems["hoverinfo"] = "skip";
    traces_.push_back(std::move(stems));
    Json heads = trace(layer, "scatter");
    heads["mode"] = "markers";
    heads["marker"] = {{"color", color_of(layer)}};
    heads[along(layer)] = column(axis, position);
    heads[across(layer)] = column(value_axis(panel_, layer), top);
    traces_.push_back(std::move(heads));
}

void PlotlyPanel::boxes(const Layer& layer) {
    const LayerData& data = layer.data;
    const Axis& axis = value_axis(panel_, layer);
    Json result = trace(layer, "box");
    result["orientation"] = lies(layer) ? "h" : "v";
    result[along(layer)] = column(position_axis(panel_, layer), data.numbers("pos"));
    for (const auto& [theirs, ours] :
         {std::pair("lowerfence", "min"), std::pair("q1", "q1"), std::pair("median", "median"),
          std::pair("q3", "q3"), std::pair("upperfence", "max"), std::pair("mean", "mean")}) {
        if (!data.numbers(ours).empty()) result[theirs] = column(axis, data.numbers(ours));
    }
    if (!data.lists("outliers").empty()) {
        Json outliers = Json::array();
        for (const Column& list : data.lists("outliers")) outliers.push_back(column(axis, list));
        result[across(layer)] = std::move(outliers);
        result["boxpoints"] = "outliers";
    }
    result["marker"] = {{"color", color_of(layer)}};
    if (!data.numbers("width").empty() && std::isfinite(data.numbers("width")[0])) {
        result["width"] = std::max(data.numbers("width")[0], 0.0);
    }
    traces_.push_back(std::move(result));
}

void PlotlyPanel::violins(const Layer& layer) {
    const LayerData& data = layer.data;
    for (std::size_t i = 0; i < data.numbers("pos").size(); ++i) {
        const double middle = data.numbers("pos")[i];
        const Column& coords = data.lists("coords")[i];
        Column at, height;
        for (std::size_t j = 0; j < coords.size(); ++j) {
            at.push_back(middle - data.lists("half_lo")[i][j]);
            height.push_back(coords[j]);
        }
        for (std::size_t j = coords.size(); j-- > 0;) {
            at.push_back(middle + data.lists("half_hi")[i][j]);
            height.push_back(coords[j]);
        }
        Json outline = trace(layer, "scatter");
        outline["mode"] = "lines";
        outline["fill"] = "toself";
        outline["line"] = {{"color", color_of(layer)}, {"width", 1}};
        outline["showlegend"] = layer.label.has_value() && i == 0;
        outline[along(layer)] = column(position_axis(panel_, layer), at);
        outline[across(layer)] = column(value_axis(panel_, layer), height);
        traces_.push_back(std::move(outline));
    }
}

}  // namespace cellblock::charts
