// Figure -> ECharts (see echarts.h): the option around the panels.
#include "charts/echarts.h"

#include <algorithm>
#include <set>

#include "charts/describe.h"
#include "charts/echarts_panel.h"

namespace cellblock::charts {

namespace {

constexpr double head_share = 12;  // per cent of the picture: title and legend

EchartsPlace place_of(const Figure& figure, const Panel& panel, std::size_t index) {
    const double columns = std::max<double>(1, figure.columns);
    const double rows = std::max<double>(1, figure.rows);
    const double width = 100 / columns, height = (100 - head_share) / rows;
    const double own = static_cast<double>(index);
    const Cell cell = panel.cell.value_or(Cell{});
    const double column = panel.cell ? cell.column : std::min(own, columns - 1);
    const double row = panel.cell ? cell.row : 0;
    if (!panel.cell && panel.bounds) {  // an inset: where the figure had it
        return {(*panel.bounds)[0] * 100, (1 - (*panel.bounds)[1] - (*panel.bounds)[3]) * 100,
                (*panel.bounds)[2] * 100, (*panel.bounds)[3] * 100};
    }
    return {column * width + width * 0.12, head_share + row * height + height * 0.08,
            width * cell.column_span - width * 0.2, height * cell.row_span - height * 0.28};
}

Json legend_json(const Json& series) {
    std::set<std::string> seen;
    Json names = Json::array();
    for (const Json& item : series) {
        const std::string name = item.value("name", "");
        if (!name.empty() && item.value("type", "") != "pie" && seen.insert(name).second) {
            names.push_back(name);
        }
    }
    return {{"data", names},
            {"show", names.size() > 1},
            {"type", "scroll"},
            {"top", "6%"},
            {"left", "center"}};
}

void put(Json& option, const char* name, Json list) {
    if (!list.empty()) option[name] = std::move(list);
}

}  // namespace

Json to_echarts(const Figure& figure) {
    EchartsOption parts;
    for (std::size_t i = 0; i < figure.panels.size(); ++i) {
        const Panel& panel = figure.panels[i];
        EchartsPanel(panel, parts, place_of(figure, panel, i)).add();
    }
    const bool single = figure.panels.size() == 1;
    const auto& title =
        single && figure.panels.front().title ? figure.panels.front().title : figure.title;
    if (title) parts.title.push_back({{"text", *title}, {"left", "center"}, {"top", 4}});
    if (!single) {
        for (std::size_t i = 0; i < figure.panels.size(); ++i) {
            if (!figure.panels[i].title) continue;
            const EchartsPlace place = place_of(figure, figure.panels[i], i);
            parts.title.push_back({{"text", *figure.panels[i].title},
                                   {"left", std::to_string(place.left + place.width / 2) + "%"},
                                   {"top", std::to_string(place.top - 5) + "%"},
                                   {"textAlign", "center"},
                                   {"textStyle", {{"fontSize", 13}}}});
        }
    }
    const bool points = std::all_of(parts.series.begin(), parts.series.end(), [](const Json& one) {
        const std::string type = one.value("type", "");
        return type != "line" && type != "bar" && type != "candlestick";
    });
    Json option{{"aria", {{"enabled", true}, {"label", {{"description", alt_text(figure)}}}}},
                {"tooltip", {{"trigger", points ? "item" : "axis"}}},
                {"legend", legend_json(parts.series)},
                {"useUTC", true},
                {"animation", false},
                {"series", parts.series}};
    put(option, "title", std::move(parts.title));
    put(option, "grid", std::move(parts.grid));
    put(option, "xAxis", std::move(parts.x_axis));
    put(option, "yAxis", std::move(parts.y_axis));
    put(option, "polar", std::move(parts.polar));
    put(option, "angleAxis", std::move(parts.angle_axis));
    put(option, "radiusAxis", std::move(parts.radius_axis));
    put(option, "visualMap", std::move(parts.visual_map));
    put(option, "graphic", std::move(parts.graphic));
    return option;
}

}  // namespace cellblock::charts
