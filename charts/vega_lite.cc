// Figure -> Vega-Lite (see vega_lite.h): panels side by side, the rest is vega_panel.cc.
#include "charts/vega_lite.h"

#include <algorithm>
#include <map>

#include "charts/describe.h"
#include "charts/vega_panel.h"

namespace cellblock::charts {

namespace {

struct Size {
    double width, height;
};

Size panel_size(const Figure& figure) {
    const double width =
        figure.size_px ? std::clamp((*figure.size_px)[0] * 0.8, 300.0, 760.0) : 480.0;
    const double height =
        figure.size_px ? std::clamp((*figure.size_px)[1] * 0.7, 220.0, 560.0) : 300.0;
    const double columns = std::max<double>(1, figure.columns),
                 rows = std::max<double>(1, figure.rows);
    return {std::max(160.0, width / columns), std::max(140.0, height / rows)};
}

// For whoever shows the chart, and has a picture of it too.
void not_drawn(Json& spec, std::size_t panels) {
    if (panels > 0) spec["usermeta"] = {{"panels_not_drawn", panels}};
}

}  // namespace

Json to_vega_lite(const Figure& figure) {
    Json spec{{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
              {"description", alt_text(figure)},
              {"config", {{"view", {{"continuousWidth", 300}}}}}};
    const Size size = panel_size(figure);
    if (figure.panels.size() == 1) {
        VegaPanel only(figure.panels.front(), size.width, size.height);
        Json panel = only.spec();
        not_drawn(spec, only.not_drawn() ? 1 : 0);
        if (!panel.contains("title") && figure.title) panel["title"] = *figure.title;
        spec.update(panel);
        return spec;
    }
    if (figure.title) spec["title"] = *figure.title;
    // Rows of the figure's grid; a panel without a cell, like an inset, follows in a row of its
    // own.
    std::map<std::uint32_t, Json> rows;
    std::size_t undrawn = 0;
    for (const Panel& panel : figure.panels) {
        const std::uint32_t row = panel.cell ? panel.cell->row : 10'000;
        const double span = panel.cell ? panel.cell->column_span : 1;
        VegaPanel drawn(panel, size.width * span, size.height);
        rows.try_emplace(row, Json::array()).first->second.push_back(drawn.spec());
        undrawn += drawn.not_drawn() ? 1 : 0;
    }
    not_drawn(spec, undrawn);
    Json lines = Json::array();
    for (auto& [row, panels] : rows) lines.push_back({{"hconcat", std::move(panels)}});
    spec["vconcat"] = std::move(lines);
    spec["resolve"] = {{"scale", {{"color", "independent"}}}};
    if (figure.panels.empty()) {
        spec.erase("vconcat");
        spec.erase("resolve");
        spec["data"] = {{"values", Json::array()}};
        spec["mark"] = "point";
    }
    return spec;
}

}  // namespace cellblock::charts
