// Grids, contours, rows, slices, polar, spatial layers and tables as traces (see plotly_panel.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "charts/plotly_panel.h"
#include "charts/statistics.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

Json grid_json(const Grid& grid) {
    Json rows = Json::array();
    for (std::size_t row = 0; row < grid.rows; ++row) {
        const auto begin = grid.values.begin() + static_cast<std::ptrdiff_t>(row * grid.columns);
        rows.push_back(
            column_json(Column(begin, begin + static_cast<std::ptrdiff_t>(grid.columns))));
    }
    return rows;
}

Json texts_json(const std::vector<std::string>& texts) {
    Json list = Json::array();
    for (const std::string& text : texts) list.push_back(plotly_text(text));
    return list;
}

}  // namespace

void PlotlyPanel::cells(const Layer& layer) {
    const LayerData& data = layer.data;
    Json result = trace(layer, "heatmap");
    const Json axis = color_axis(data.grid("v").values);
    result["z"] = grid_json(data.grid("v"));
    if (!data.numbers("x_edges").empty()) {
        result["x"] = column(x_axis(panel_, layer), data.numbers("x_edges"));
    }
    if (!data.numbers("y_edges").empty()) {
        result["y"] = column(y_axis(panel_, layer), data.numbers("y_edges"));
    }
    result["colorscale"] = axis["colorscale"];
    result["zmin"] = axis["low"];
    result["zmax"] = axis["high"];
    result["colorbar"] = axis["colorbar"];
    if (!data.words("text").empty()) {
        Json rows = Json::array();
        for (const auto& row : data.words("text")) rows.push_back(texts_json(row));
        result["text"] = std::move(rows);
        result["texttemplate"] = "%{text}";
    }
    traces_.push_back(std::move(result));
}

void PlotlyPanel::contour(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& levels = data.numbers("levels");
    if (data.has("z")) {
        Json result = trace(layer, "contour");
        const Json axis = color_axis(levels.empty() ? data.grid("z").values : levels);
        result["z"] = grid_json(data.grid("z"));
        result["x"] = column(x_axis(panel_, layer), data.numbers("z_x"));
        result["y"] = column(y_axis(panel_, layer), data.numbers("z_y"));
        result["colorscale"] = axis["colorscale"];
        result["zmin"] = axis["low"];
        result["zmax"] = axis["high"];
        result["colorbar"] = axis["colorbar"];
        result["contours"] = {{"coloring", layer.kind == Kind::contourf ? "fill" : "lines"}};
        // Plotly only knows levels at one distance.
        if (levels.size() > 1 && levels.back() > levels.front()) {
            result["contours"]["start"] = levels.front();
            result["contours"]["end"] = levels.back();
            result["contours"]["size"] =
                (levels.back() - levels.front()) / static_cast<double>(levels.size() - 1);
        }
        traces_.push_back(std::move(result));
        return;
    }
    const auto found = extremes(levels);
    const ColorRamp ramp(panel_.color, found ? levels[found->lowest] : 0,
                         found ? levels[found->highest] : 1);
    for (std::size_t i = 0; i < data.numbers("path_level").size(); ++i) {
        Json path = segments(layer, column(x_axis(panel_, layer), data.lists("path_x")[i]),
                             column(y_axis(panel_, layer), data.lists("path_y")[i]));
        if (layer.color.empty()) {
            path["line"]["color"] = ramp.color(data.numbers("path_level")[i]);
        }
        path["showlegend"] = false;
        traces_.push_back(std::move(path));
    }
}

void PlotlyPanel::hexbin(const Layer& layer) {
    Json result = trace(layer, "scatter");
    result["mode"] = "markers";
    result["x"] = column(x_axis(panel_, layer), layer.data.numbers("x"));
    result["y"] = column(y_axis(panel_, layer), layer.data.numbers("y"));
    result["marker"] = marker_by_value(layer.data.numbers("v"));
    result["marker"]["symbol"] = "hexagon2";
    result["marker"]["size"] = 14;
    traces_.push_back(std::move(result));
}

void PlotlyPanel::arrows(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& x = data.numbers("x");
    const Column& y = data.numbers("y");
    double longest = 0, room = 1;
    const auto found = extremes(x);
    if (found && x[found->highest] > x[found->lowest]) {
        room = (x[found->highest] - x[found->lowest]) / std::sqrt(static_cast<double>(x.size()));
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double length = std::hypot(data.numbers("u")[i], data.numbers("v")[i]);
        if (std::isfinite(length)) longest = std::max(longest, length);
    }
    const double scale = longest > 0 ? room / longest : 0;
    Json at_x = Json::array(), at_y = Json::array();
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Axis& along = x_axis(panel_, layer);
        const Axis& up = y_axis(panel_, layer);
        at_x.insert(at_x.end(), {value(along, x[i]),
                                 value(along, x[i] + data.numbers("u")[i] * scale), nullptr});
        at_y.insert(at_y.end(),
                    {value(up, y[i]), value(up, y[i] + data.numbers("v")[i] * scale), nullptr});
    }
    traces_.push_back(segments(layer, std::move(at_x), std::move(at_y)));
    Json feet = trace(layer, "scatter");
    feet["mode"] = "markers";
    feet["showlegend"] = false;
    feet["x"] = column(x_axis(panel_, layer), x);
    feet["y"] = column(y_axis(panel_, layer), y);
    feet["marker"] = {{"color", color_of(layer)}, {"size", 3}};
    traces_.push_back(std::move(feet));
}

void PlotlyPanel::gantt(const Layer& layer) {
    const LayerData& data = layer.data;
    const auto& colors = data.texts("color");
    Column length;
    for (std::size_t i = 0; i < data.numbers("start").size(); ++i) {
        length.push_back(data.numbers("end")[i] - data.numbers("start")[i]);
    }
    Json result = trace(layer, "bar");
    result["orientation"] = "h";
    result["y"] = column(y_axis(panel_, layer), data.numbers("row"));
    result["x"] = column_json(length);  // milliseconds on a time axis
    result["base"] = column(x_axis(panel_, layer), data.numbers("start"));
    if (!data.numbers("height").empty()) result["width"] = column_json(data.numbers("height"));
    result["marker"] = {{"color", color_of(layer)}};
    if (!colors.empty()) {
        Json list = Json::array();
        for (const std::string& color : colors) {
            list.push_back(color.empty() ? color_of(layer) : solid(color));
        }
        result["marker"]["color"] = std::move(list);
    }
    traces_.push_back(std::move(result));
}

void PlotlyPanel::candles(const Layer& layer) {
    Json result = trace(layer, "candlestick");
    result["x"] = column(x_axis(panel_, layer), layer.data.numbers("t"));
    for (const auto& [theirs, ours] : {std::pair("open", "o"), std::pair("high", "h"),
                                       std::pair("low", "l"), std::pair("close", "c")}) {
        result[theirs] = column_json(layer.data.numbers(ours));
    }
    traces_.push_back(std::move(result));
}

void PlotlyPanel::events(const Layer& layer) {
    const auto& lists = layer.data.lists("pos");
    const Column& offsets = layer.data.numbers("offsets");
    const bool level = layer.orient == Orient::horizontal;
    const Axis& axis = level ? x_axis(panel_, layer) : y_axis(panel_, layer);
    Json places = Json::array(), rows = Json::array();
    for (std::size_t row = 0; row < lists.size(); ++row) {
        const double middle = row < offsets.size() && std::isfinite(offsets[row])
                                  ? offsets[row]
                                  : static_cast<double>(row);
        for (const double at : lists[row]) {
            places.insert(places.end(), {value(axis, at), value(axis, at), nullptr});
            rows.insert(rows.end(), {Json(middle - 0.4), Json(middle + 0.4), nullptr});
        }
    }
    traces_.push_back(segments(layer, level ? places : rows, level ? rows : places));
}

void PlotlyPanel::pie(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& share = data.numbers("frac");
    Json result{
        {"type", "pie"},
        {"name", plotly_text(layer.label.value_or(""))},
        {"labels", texts_json(data.texts("label"))},
        {"values", column_json(data.numbers("value").empty() ? share : data.numbers("value"))},
        {"sort", false},
        {"direction", "counterclockwise"},
        {"domain", domain()},
        {"textinfo", "label+percent"}};
    const Column& end = data.numbers("angle1");
    // Degrees with the clock from the top to where the first slice ends against the clock.
    if (!end.empty() && std::isfinite(end[0])) {
        result["rotation"] = std::remainder(90 - end[0], 360.0);
    }
    const Column& inner = data.numbers("r_inner");
    const Column& outer = data.numbers("r");
    if (!inner.empty() && !outer.empty() && inner[0] > 0 && outer[0] > inner[0]) {
        result["hole"] = inner[0] / outer[0];
    }
    if (!data.texts("color").empty()) {
        Json colors = Json::array();
        for (std::size_t i = 0; i < data.texts("color").size(); ++i) {
            const std::string& color = data.texts("color")[i];
            colors.push_back(color.empty() ? charts::series_color(i) : solid(color));
        }
        result["marker"] = {{"colors", std::move(colors)}};
    }
    traces_.push_back(std::move(result));
}

void PlotlyPanel::polar(const Layer& layer) {
    const bool bar = layer.kind == Kind::bar;
    const bool line = layer.kind == Kind::line || layer.kind == Kind::step;
    if (!bar && !line && layer.kind != Kind::scatter) return;
    Column degrees = layer.data.numbers(bar ? "pos" : "x");
    for (double& angle : degrees) angle *= 180 / std::numbers::pi;
    Json result{{"type", bar ? "barpolar" : "scatterpolar"},
                {"name", plotly_text(layer.label.value_or(""))},
                {"showlegend", layer.label.has_value()},
                {"subplot", "polar" + (number_ == 1 ? "" : std::to_string(number_))},
                {"theta", column_json(degrees)},
                {"r", column_json(layer.data.numbers(bar ? "value" : "y"))}};
    if (bar && !layer.data.numbers("width").empty()) {
        Column width = layer.data.numbers("width");
        for (double& angle : width) angle *= 180 / std::numbers::pi;
        result["width"] = column_json(width);
    }
    if (!bar) result["mode"] = line ? "lines" : "markers";
    result["marker"] = {{"color", color_of(layer)}};
    traces_.push_back(std::move(result));
}

void PlotlyPanel::spatial(const Layer& layer) {
    const LayerData& data = layer.data;
    Json result{{"name", plotly_text(layer.label.value_or(""))},
                {"scene", "scene" + (number_ == 1 ? "" : std::to_string(number_))}};
    if (layer.kind == Kind::surface) {
        if (!data.has("z")) return;
        result["type"] = "surface";
        for (const char* name : {"x", "y", "z"}) result[name] = grid_json(data.grid(name));
        traces_.push_back(std::move(result));
        return;
    }
    result["type"] = "scatter3d";
    result["mode"] = layer.kind == Kind::line3d ? "lines" : "markers";
    for (const char* name : {"x", "y", "z"}) result[name] = column_json(data.numbers(name));
    result["marker"] = {{"color", color_of(layer)}, {"size", 4}};
    if (!data.numbers("c").empty()) {
        result["marker"] = marker_by_value(data.numbers("c"));
        result["marker"]["size"] = 4;
    }
    traces_.push_back(std::move(result));
}

void PlotlyPanel::table(const Layer& layer) {
    const auto& columns = layer.data.texts("columns");
    Json cells = Json::array();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        Json column = Json::array();
        for (const auto& row : layer.data.words("rows")) {
            column.push_back(i < row.size() ? plotly_text(row[i]) : "");
        }
        cells.push_back(std::move(column));
    }
    traces_.push_back({{"type", "table"},
                       {"header", {{"values", texts_json(columns)}}},
                       {"cells", {{"values", std::move(cells)}}},
                       {"domain", domain()}});
}

}  // namespace cellblock::charts
