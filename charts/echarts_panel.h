// One panel's grid, axes and series (internal to the echarts*.cc files).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "charts/colors.h"
#include "charts/draw_layer.h"
#include "charts/model.h"

namespace cellblock::charts {

// An option as it grows: lists that panels append to.
struct EchartsOption {
    Json grid = Json::array(), x_axis = Json::array(), y_axis = Json::array();
    Json polar = Json::array(), angle_axis = Json::array(), radius_axis = Json::array();
    Json series = Json::array(), visual_map = Json::array(), graphic = Json::array();
    Json title = Json::array();
};

// In per cent of the picture.
struct EchartsPlace {
    double left = 0, top = 0, width = 100, height = 100;
};

class EchartsPanel {
  public:
    EchartsPanel(const Panel& panel, EchartsOption& option, const EchartsPlace& place);
    void add();

  private:
    template <typename Drawer>
    friend bool draw_layer(Drawer& drawer, const Layer& layer);

    void add_axes();
    void add_polar_axes();
    Json axis_json(const Axis& axis, const std::vector<std::string>& names) const;
    void layer(const Layer& layer);
    void refs();
    void notes();

    void line(const Layer& layer, const Column& x, const Column& y);
    void area(const Layer& layer);
    void scatter(const Layer& layer);
    void bars(const Layer& layer);
    void hist(const Layer& layer);
    void errors(const Layer& layer);
    void stems(const Layer& layer);
    void boxes(const Layer& layer);
    void violins(const Layer& layer);
    void cells(const Layer& layer);
    void grid(const Layer& layer, const Grid& grid);
    void contour(const Layer& layer);
    void hexbin(const Layer& layer);
    void arrows(const Layer& layer);
    void gantt(const Layer& layer);
    void candles(const Layer& layer);
    void events(const Layer& layer);
    void pie(const Layer& layer);
    void polar(const Layer& layer);

    // {"type", "name", axis indices, colour}
    Json series(const Layer& layer, const char* type) const;
    // Open lines between points: {"coords": [[x, y], ...]} each.
    Json lines(const Layer& layer, Json data) const;
    Json segment(const Layer& layer, double x0, double y0, double x1, double y1) const;
    // A line across a position, for error bars and whiskers.
    Json upright(const Layer& layer, double at, double low, double high) const;
    Json point(const Layer& layer, double x, double y) const;
    // [position, value] the way the layer stands.
    Json placed(const Layer& layer, double along, double across) const;
    // A value of the axis; an index where it has categories; null when it is missing.
    Json value(const Axis& axis, double value) const;
    void color_by_value(std::size_t dimension, const Column& values);
    std::string color_of(const Layer& layer) const;

    const Panel& panel_;
    EchartsOption& option_;
    const EchartsPlace place_;
    std::size_t x_index_ = 0, y_index_ = 0, polar_index_ = 0;
    std::optional<std::size_t> x2_index_, y2_index_;
    bool in_cells_ = false;  // both axes name the cells of a heat map
    bool candles_ = false;   // the position axis names the days of candlesticks
};

}  // namespace cellblock::charts
