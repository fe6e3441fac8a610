// One panel's traces and axes (internal to the plotly*.cc files).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/json.h"
#include "charts/colors.h"
#include "charts/draw_layer.h"
#include "charts/model.h"

namespace cellblock::charts {

// Text that Plotly shows as it is.
std::string plotly_text(std::string_view text);

class PlotlyPanel {
  public:
    // The `number`th panel, 1 for the first; its place in fractions of the picture, from below.
    PlotlyPanel(const Panel& panel, std::size_t number, const std::array<double, 4>& place);
    // Appends to data and layout.
    void add(Json& data, Json& layout);

  private:
    template <typename Drawer>
    friend bool draw_layer(Drawer& drawer, const Layer& layer);

    void add_axes(Json& layout);
    Json axis_json(const Axis& axis) const;
    void layer(const Layer& layer);
    void refs(Json& layout);
    void notes(Json& layout);

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
    void contour(const Layer& layer);
    void hexbin(const Layer& layer);
    void arrows(const Layer& layer);
    void gantt(const Layer& layer);
    void candles(const Layer& layer);
    void events(const Layer& layer);
    void pie(const Layer& layer);
    void polar(const Layer& layer);
    void spatial(const Layer& layer);
    void table(const Layer& layer);

    // {"type", "name", "showlegend", axis names}
    Json trace(const Layer& layer, const char* type) const;
    // Open lines with gaps between them: pieces of x and y with a null after each.
    Json segments(const Layer& layer, Json x, Json y) const;
    Json column(const Axis& axis, const Column& values) const;
    Json value(const Axis& axis, double value) const;
    Json marker_by_value(const Column& values) const;
    Json color_axis(const Column& values) const;
    std::string color_of(const Layer& layer) const;
    std::string axis_name(char letter, Side side) const;
    Json domain() const;

    const Panel& panel_;
    const std::size_t number_;
    const std::array<double, 4> place_;
    Json traces_ = Json::array();
    bool flat_ = false;  // something needs the panel's two axes
};

}  // namespace cellblock::charts
