// Figure -> SVG (see svg.h): the page's title and legend, and a rectangle for each panel.
#include "charts/svg.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "charts/describe.h"
#include "charts/svg_canvas.h"
#include "charts/svg_panel.h"
#include "charts/text_size.h"

namespace cellblock::charts {

namespace {

constexpr double margin_px = 10;
constexpr double panel_gap_px = 12;
constexpr double panel_min_width_px = 200, panel_min_height_px = 170;
constexpr std::size_t grid_max = 16;  // rows or columns; panels beyond share the last

std::size_t grid_place(std::uint32_t place) {
    return std::min<std::size_t>(place, grid_max - 1);
}

// The grid's columns or rows: how much of the whole each takes, as the figure had it.
enum class Along { columns, rows };
std::vector<double> shares(const Figure& figure, Along along) {
    const bool columns = along == Along::columns;
    std::size_t count = 1;
    for (const Panel& panel : figure.panels) {
        if (!panel.cell) continue;
        count = std::max(count, grid_place(columns ? panel.cell->column : panel.cell->row) + 1);
    }
    std::vector<double> sizes(count, 0);
    for (const Panel& panel : figure.panels) {
        if (!panel.cell || !panel.bounds) continue;
        const auto span = columns ? panel.cell->column_span : panel.cell->row_span;
        double& size = sizes[grid_place(columns ? panel.cell->column : panel.cell->row)];
        if (span == 1)
            size = std::max(size, std::clamp((*panel.bounds)[columns ? 2 : 3], 0.0, 1.0));
    }
    double largest = 0;
    for (const double size : sizes) largest = std::max(largest, size);
    // No size known, or one too narrow for its labels.
    for (double& size : sizes) {
        size = largest > 0 ? std::max(size > 0 ? size : largest, largest * 0.3) : 1;
    }
    return sizes;
}

class Page {
  public:
    Page(const Figure& figure, const SvgOptions& options);
    std::string draw();

  private:
    Rect place_of(const Panel& panel, double top) const;
    // Of several panels, one that does not say where it is.
    bool is_loose(const Panel& panel) const {
        return figure_.panels.size() > 1 && !panel.cell && !panel.bounds;
    }
    std::vector<LegendItem> legend_items() const;

    const Figure& figure_;
    const SvgOptions& options_;
    std::vector<double> columns_, rows_;
    double width_ = 640, height_ = 420;
    double loose_px_ = 0;  // below the grid: panels that have no place in it
};

Page::Page(const Figure& figure, const SvgOptions& options)
    : figure_(figure),
      options_(options),
      columns_(shares(figure, Along::columns)),
      rows_(shares(figure, Along::rows)) {
    double ratio = 0.66;
    if (figure.size_px && (*figure.size_px)[0] > 0 && (*figure.size_px)[1] > 0) {
        width_ = std::clamp((*figure.size_px)[0], 360.0, 1600.0);
        ratio = std::clamp((*figure.size_px)[1] / (*figure.size_px)[0], 0.2, 4.0);
    }
    if (options.width_px) width_ = std::clamp(*options.width_px, 200.0, 4000.0);
    const double columns = static_cast<double>(columns_.size());
    const double rows = static_cast<double>(rows_.size());
    width_ = std::max(width_, columns * panel_min_width_px);
    height_ = std::clamp(width_ * ratio, rows * panel_min_height_px, 6000.0);
    height_ = std::max(height_, 220.0);
    for (const Panel& panel : figure.panels) {
        if (is_loose(panel)) loose_px_ += 300;
    }
    height_ += loose_px_;
}

Rect Page::place_of(const Panel& panel, double top) const {
    const double width = width_ - 2 * margin_px;
    const double height = height_ - loose_px_ - margin_px - top;
    if (figure_.panels.size() == 1) return {margin_px, top, width, height};
    if (!panel.cell) {
        const auto bounds = panel.bounds.value_or(std::array<double, 4>{0, 0, 1, 1});
        const double share = std::clamp(bounds[2], 0.15, 1.0);
        const double tall = std::clamp(bounds[3], 0.15, 1.0);
        return {margin_px + std::clamp(bounds[0], 0.0, 1 - share) * width,
                top + (1 - tall - std::clamp(bounds[1], 0.0, 1 - tall)) * height, share * width,
                tall * height};
    }
    const auto along = [](const std::vector<double>& sizes, std::uint32_t first, std::uint32_t span,
                          double length) {
        double all = 0, before = 0, own = 0;
        const std::size_t from = grid_place(first);
        const std::size_t to =
            std::min<std::size_t>(from + std::max<std::uint32_t>(span, 1), sizes.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            all += sizes[i];
            if (i < from) before += sizes[i];
            if (i >= from && i < to) own += sizes[i];
        }
        return std::pair(before / all * length, own / all * length);
    };
    const auto [x, wide] = along(columns_, panel.cell->column, panel.cell->column_span, width);
    const auto [y, tall] = along(rows_, panel.cell->row, panel.cell->row_span, height);
    const double gap = columns_.size() * rows_.size() > 1 ? panel_gap_px : 0;
    return {margin_px + x, top + y, wide - gap, tall - gap};
}

std::vector<LegendItem> Page::legend_items() const {
    std::vector<LegendItem> items;
    if (!figure_.legend) return items;
    for (const LegendEntry& entry : figure_.legend->entries) {
        items.push_back({entry.label, entry.color.substr(0, 7), false});
        if (items.back().color.empty()) items.back().color = ink;
    }
    return items;
}

std::string Page::draw() {
    char prefix[24];
    std::snprintf(prefix, sizeof prefix, "cb%x-",
                  static_cast<unsigned>(std::hash<std::string>{}(figure_.id) & 0xFFFFFFU));
    SvgCanvas canvas(width_, height_, options_.theme, prefix);
    double top = margin_px;
    const bool single = figure_.panels.size() == 1;
    const bool own_title = figure_.title && !(single && !figure_.panels.front().title);
    if (own_title || figure_.panels.empty()) {
        TextLook look;
        look.size_px = 16;
        look.anchor = Anchor::middle;
        look.strong = true;
        canvas.text({width_ / 2, top + 16},
                    fitted_text(figure_.title.value_or("An empty figure"), width_ - 20, 17), look);
        top += 28;
    }
    const std::vector<LegendItem> items = legend_items();
    const LegendLines legend = lay_out_legend(items, width_ - 2 * margin_px);
    draw_legend(canvas, items, legend, {margin_px, top});
    top += legend.height_px;
    double loose = height_ - loose_px_;
    for (const Panel& panel : figure_.panels) {
        Rect place = place_of(panel, top);
        if (is_loose(panel)) {
            place = {margin_px, loose, width_ - 2 * margin_px, 290};
            loose += 300;
        }
        // A panel that lies over another one hides what is below it.
        if (!panel.inset_of.empty()) canvas.ground(place);
        const auto& title = single && !panel.title ? figure_.title : panel.title;
        const LegendPlace legend_place = items.empty() ? LegendPlace::panel : LegendPlace::page;
        SvgPanel(panel, canvas, place, title, legend_place).draw();
    }
    return canvas.finish(alt_text(figure_), describe(figure_));
}

}  // namespace

std::string to_svg(const Figure& figure, const SvgOptions& options) {
    return Page(figure, options).draw();
}

}  // namespace cellblock::charts
