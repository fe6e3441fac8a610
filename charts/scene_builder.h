// Adds the marks of one panel's layers (internal to the scene_*.cc files).
#pragma once

#include <string>
#include <vector>

#include "charts/colors.h"
#include "charts/draw_layer.h"
#include "charts/model.h"
#include "charts/scene.h"

namespace cellblock::charts {

class SceneBuilder {
  public:
    explicit SceneBuilder(const Panel& panel);
    Scene build();

  private:
    template <typename Drawer>
    friend bool draw_layer(Drawer& drawer, const Layer& layer);

    void refs();
    void notes();
    void legend();
    void layer(const Layer& layer);

    void line(const Layer& layer, const Column& x, const Column& y);
    void area(const Layer& layer);
    void scatter(const Layer& layer);
    void bars(const Layer& layer);
    void hist(const Layer& layer);
    void bar_errors(const Layer& layer);
    void errors(const Layer& layer);
    void stems(const Layer& layer);
    void boxes(const Layer& layer);
    void boxens(const Layer& layer);
    void violins(const Layer& layer);
    void cells(const Layer& layer);
    void contour(const Layer& layer);
    void contour_field(const Layer& layer);
    void hexbin(const Layer& layer);
    void arrows(const Layer& layer);
    void gantt(const Layer& layer);
    void candles(const Layer& layer);
    void events(const Layer& layer);
    void pie(const Layer& layer);
    void polar(const Layer& layer);
    void polar_bars(const Layer& layer);
    void polar_frame();

    // A point whose first value lies along the position axis.
    Point point(const Layer& layer, double along, double across) const;
    Point polar_point(double angle, double distance) const;
    Box box(const Layer& layer, double from, double to, double low, double high,
            std::string color) const;
    // A line from one value to another across a position, with small ends where wanted.
    void rule(const Layer& layer, double at, double low, double high, double cap_half,
              const std::string& color);
    // Breaks at missing points.
    void runs(const Layer& layer, const std::vector<Point>& points, const Polyline& look);
    // The panel's colours for values of this range; the scene then shows what they mean.
    ColorRamp ramp(const Column& values);
    std::string color_of(const Layer& layer) const;
    double base_of(const Layer& layer, double base) const;
    template <typename Form>
    void add(const Layer& layer, Form form) {
        scene_.marks.push_back({layer.side, std::move(form)});
    }

    const Panel& panel_;
    Scene scene_;
    double reach_ = 1;  // the value at a polar panel's rim
    double inner_ = 0;  // the value at a polar panel's centre
};

}  // namespace cellblock::charts
