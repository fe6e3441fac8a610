// Figure -> Plotly (see plotly.h): the layout around the panels.
#include "charts/plotly.h"

#include <algorithm>

#include "charts/describe.h"
#include "charts/plotly_panel.h"

namespace cellblock::charts {

namespace {

std::array<double, 4> place_of(const Figure& figure, const Panel& panel, std::size_t index) {
    if (figure.panels.size() == 1) return {0, 0, 1, 1};
    const double columns = std::max<double>(1, figure.columns);
    const double rows = std::max<double>(1, figure.rows);
    if (!panel.cell && panel.bounds) {
        std::array<double, 4> place = *panel.bounds;
        for (double& part : place) part = std::clamp(part, 0.0, 1.0);
        place[2] = std::min(place[2], 1 - place[0]);
        place[3] = std::min(place[3], 1 - place[1]);
        return place;
    }
    const std::size_t per_row = std::max<std::uint32_t>(1, figure.columns);
    const Cell cell = panel.cell.value_or(Cell{static_cast<std::uint32_t>(index / per_row),
                                               static_cast<std::uint32_t>(index % per_row)});
    const double column = std::min<double>(cell.column, columns - 1);
    const double row = std::min<double>(cell.row, rows - 1);
    const double width = std::min<double>(std::max(1U, cell.column_span), columns - column);
    const double height = std::min<double>(std::max(1U, cell.row_span), rows - row);
    // A tenth of each cell stays free for labels.
    return {(column + 0.08) / columns, 1 - (row + height - 0.12) / rows, (width - 0.14) / columns,
            (height - 0.26) / rows};
}

}  // namespace

std::string plotly_text(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '<') {
            result += "&lt;";
        } else if (c == '>') {
            result += "&gt;";
        } else if (c == '&') {
            result += "&amp;";
        } else if (c == '\n') {
            result += "<br>";
        } else {
            result += c;
        }
    }
    return result;
}

Json to_plotly(const Figure& figure) {
    Json data = Json::array();
    Json layout{{"barmode", "overlay"},
                {"hovermode", "closest"},
                {"shapes", Json::array()},
                {"annotations", Json::array()},
                {"meta", {{"description", describe(figure)}}}};
    const bool single = figure.panels.size() == 1;
    for (std::size_t i = 0; i < figure.panels.size(); ++i) {
        const Panel& panel = figure.panels[i];
        const std::array<double, 4> place = place_of(figure, panel, i);
        PlotlyPanel(panel, i + 1, place).add(data, layout);
        if (single || !panel.title) continue;
        layout["annotations"].push_back({{"text", plotly_text(*panel.title)},
                                         {"xref", "paper"},
                                         {"yref", "paper"},
                                         {"x", place[0] + place[2] / 2},
                                         {"y", place[1] + place[3]},
                                         {"xanchor", "center"},
                                         {"yanchor", "bottom"},
                                         {"showarrow", false},
                                         {"font", {{"size", 14}}}});
    }
    const auto& title =
        single && figure.panels.front().title ? figure.panels.front().title : figure.title;
    if (title) layout["title"] = {{"text", plotly_text(*title)}};
    if (figure.size_px) {
        layout["width"] = std::clamp((*figure.size_px)[0], 200.0, 4000.0);
        layout["height"] = std::clamp((*figure.size_px)[1], 150.0, 4000.0);
    }
    return {{"data", std::move(data)}, {"layout", std::move(layout)}};
}

}  // namespace cellblock::charts
