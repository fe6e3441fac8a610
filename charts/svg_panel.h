// One panel inside its rectangle of the picture (internal to the svg_*.cc files): how much room
// labels, legend and colour bar need, and what is left for the plot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "charts/axis_map.h"
#include "charts/model.h"
#include "charts/scene.h"
#include "charts/svg_canvas.h"

namespace cellblock::charts {

// A legend's entries in lines that fit.
struct LegendLines {
    struct Entry {
        std::size_t item;
        double x;  // from the left
        std::string text;
    };
    std::vector<std::vector<Entry>> lines;
    double height_px = 0;
};
LegendLines lay_out_legend(const std::vector<LegendItem>& items, double width_px);
void draw_legend(SvgCanvas& canvas, const std::vector<LegendItem>& items, const LegendLines& lines,
                 Pixel corner);

// Whether the panel has a legend of its own, or the page has one for all.
enum class LegendPlace { panel, page };

class SvgPanel {
  public:
    SvgPanel(const Panel& panel, SvgCanvas& canvas, const Rect& place,
             const std::optional<std::string>& title, LegendPlace legend);
    void draw();

  private:
    // The labels of one side of the plot, thinned so that none touches another.
    struct Edge {
        AxisMap map;
        std::vector<Tick> ticks;
        std::string title;
        double labels_px = 0;  // room that the labels take, away from the plot
        double turned_deg = 0;

        explicit Edge(AxisMap map_) : map(std::move(map_)) {}
    };

    void make_room();
    void fit_upright(Edge& side, double height);
    void fit_level(Edge& side, double width);
    void make_square();

    void draw_axes();
    // Labels and name of an axis: at the left or right, below or above.
    enum class Towards { low, high };
    void draw_upright(const Edge& side, double x, Towards towards);
    void draw_level(const Edge& side, double y, Towards towards);
    void draw_colour_bar();
    void draw_shapes();
    void draw_sentence();

    const Edge& x_of(Side side) const { return side == Side::x2 && x2_ ? *x2_ : x_; }
    const Edge& y_of(Side side) const { return side == Side::y2 && y2_ ? *y2_ : y_; }
    Pixel pixel(Side side, double x, double y) const;

    void shape(Side side, const Polyline& line);
    void shape(Side side, const Region& region);
    void shape(Side side, const Boxes& boxes);
    void shape(Side side, const Dots& dots);
    void shape(Side side, const Labels& labels);
    void shape(Side side, const Rule& rule);
    void shape(Side side, const Span& span);
    bool claim(const Rect& place);

    const Panel& panel_;
    SvgCanvas& canvas_;
    Rect place_, plot_;
    std::string title_;
    LegendPlace legend_place_;
    Scene scene_;
    Edge x_, y_;
    std::optional<Edge> x2_, y2_;
    LegendLines legend_;
    std::vector<Rect> texts_;  // where words stand already
};

}  // namespace cellblock::charts
