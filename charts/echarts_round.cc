// Bars in rows, days, slices and polar layers as ECharts series (see echarts_panel.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "charts/echarts_panel.h"
#include "charts/text.h"

namespace cellblock::charts {

void EchartsPanel::gantt(const Layer& layer) {
    const LayerData& data = layer.data;
    const auto& colors = data.texts("color");
    Json bars = Json::array();
    for (std::size_t i = 0; i < data.numbers("row").size(); ++i) {
        const double row = data.numbers("row")[i];
        Json bar = segment(layer, data.numbers("start")[i], row, data.numbers("end")[i], row);
        if (i < colors.size() && !colors[i].empty()) {
            bar["lineStyle"] = {{"color", solid(colors[i])}};
        }
        bars.push_back(std::move(bar));
    }
    Json result = lines(layer, std::move(bars));
    result["lineStyle"]["width"] = 14;
    option_.series.push_back(std::move(result));
}

void EchartsPanel::candles(const Layer& layer) {
    const LayerData& data = layer.data;
    Json days = Json::array();
    for (std::size_t i = 0; i < data.numbers("t").size(); ++i) {
        Json day = Json::array();
        for (const char* name : {"o", "c", "l", "h"}) {
            const double price = data.numbers(name)[i];
            day.push_back(std::isfinite(price) ? Json(price) : Json("-"));
        }
        days.push_back(std::move(day));
    }
    if (!candles_) return;  // another layer has the axis, which then has no days
    Json result = series(layer, "candlestick");
    result.erase("itemStyle");
    result["data"] = std::move(days);
    option_.series.push_back(std::move(result));
}

void EchartsPanel::events(const Layer& layer) {
    const auto& lists = layer.data.lists("pos");
    const Column& offsets = layer.data.numbers("offsets");
    Json marks = Json::array();
    for (std::size_t row = 0; row < lists.size(); ++row) {
        const double middle = row < offsets.size() ? offsets[row] : static_cast<double>(row);
        for (const double at : lists[row]) {
            marks.push_back(layer.orient == Orient::horizontal
                                ? segment(layer, at, middle - 0.4, at, middle + 0.4)
                                : segment(layer, middle - 0.4, at, middle + 0.4, at));
        }
    }
    option_.series.push_back(lines(layer, std::move(marks)));
}

void EchartsPanel::pie(const Layer& layer) {
    const LayerData& data = layer.data;
    const auto& labels = data.texts("label");
    const auto& colors = data.texts("color");
    const Column& share = data.numbers("frac");
    const Column& given = data.numbers("value");
    double largest = 0;
    for (const Layer& other : panel_.layers) {
        for (const double radius : other.data.numbers("r")) {
            if (std::isfinite(radius)) largest = std::max(largest, radius);
        }
    }
    const double size = std::min(place_.width, place_.height) * 0.8;
    const auto radius = [&](const char* name, double fallback) {
        const Column& column = data.numbers(name);
        const double value = column.empty() || !std::isfinite(column[0]) ? fallback : column[0];
        const double part = largest > 0 ? std::clamp(value / largest, 0.0, 1.0) : fallback;
        return format_number(part * size, 5) + "%";
    };
    Json slices = Json::array();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        Json slice{{"name", labels[i]}, {"value", i < given.size() ? given[i] : share[i]}};
        if (i < colors.size() && !colors[i].empty()) {
            slice["itemStyle"] = {{"color", solid(colors[i])}};
        }
        slices.push_back(std::move(slice));
    }
    option_.series.push_back(
        {{"type", "pie"},
         {"name", layer.label.value_or("")},
         {"center",
          {format_number(place_.left + place_.width / 2, 5) + "%",
           format_number(place_.top + place_.height / 2, 5) + "%"}},
         {"radius", {radius("r_inner", 0), radius("r", 1)}},
         {"clockwise", false},
         {"startAngle", data.numbers("angle0").empty() ? 90.0 : data.numbers("angle0")[0]},
         {"data", std::move(slices)}});
}

void EchartsPanel::polar(const Layer& layer) {
    const bool bar = layer.kind == Kind::bar;
    const bool line = layer.kind == Kind::line || layer.kind == Kind::step;
    if (!bar && !line && layer.kind != Kind::scatter) return;
    const Column& angle = layer.data.numbers(bar ? "pos" : "x");
    const Column& distance = layer.data.numbers(bar ? "value" : "y");
    Json data = Json::array();
    for (std::size_t i = 0; i < angle.size() && i < distance.size(); ++i) {
        if (!std::isfinite(angle[i]) || !std::isfinite(distance[i])) continue;
        double degrees = std::fmod(angle[i] * 180 / std::numbers::pi, 360);
        if (degrees < 0) degrees += 360;
        data.push_back(Json::array({distance[i], degrees}));
    }
    option_.series.push_back({{"type", bar    ? "bar"
                                       : line ? "line"
                                              : "scatter"},
                              {"name", layer.label.value_or("")},
                              {"coordinateSystem", "polar"},
                              {"polarIndex", polar_index_},
                              {"itemStyle", {{"color", color_of(layer)}}},
                              {"data", std::move(data)}});
    if (line) option_.series.back()["showSymbol"] = false;
}

}  // namespace cellblock::charts
