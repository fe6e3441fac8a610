// One panel as layers of Vega-Lite (internal to vega_lite.cc).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "charts/draw_layer.h"
#include "charts/model.h"
#include "charts/vega_position.h"

namespace cellblock::charts {

// Collects the unit specifications of one panel. One object per panel, used once.
class VegaPanel {
  public:
    VegaPanel(const Panel& panel, double width, double height);

    // {"title", "width", "height", "layer": [...], "resolve"}
    Json spec();
    // Whether spec() could only say that it draws nothing.
    bool not_drawn() const { return drawn_nothing_; }

  private:
    template <typename Drawer>
    friend bool draw_layer(Drawer& drawer, const Layer& layer);

    // A unit specification: mark, encoding, its rows.
    struct Unit {
        Json mark;
        Json encoding = Json::object();
        Json rows = Json::array();
    };
    // The two axes that a layer goes by, position first.
    struct Frame {
        const Position& along;
        const Position& across;
        const char* along_name;  // "x" or "y"
        const char* across_name;
    };

    void layer(const Layer& layer);

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
    void refs();
    void notes();
    void category_labels();
    void say_not_drawn();

    const Position& x_of(const Layer& layer) const;
    const Position& y_of(const Layer& layer) const;
    Frame frame(const Layer& layer) const;
    // Puts the name of a bar's, box's band into the row, and the offset channel into the unit.
    void place(Unit& unit, Json& row, const Layer& layer, const Frame& frame, double position,
               double category);
    void rectangle(const Layer& layer, const Frame& frame, Unit& unit, double from, double to,
                   double low, double high, const std::string& color);
    void rule(const Layer& layer, const Frame& frame, const Column& position, const Column& low,
              const Column& high);
    Json series_color(const Layer& layer) const;
    Json value_color(const char* field) const;
    void put_rect_channels(Unit& unit, const Frame& frame) const;
    void add(const Layer* layer, Unit unit);

    const Panel& panel_;
    double width_, height_;
    Position x_, y_;
    std::optional<Position> x2_, y2_;
    std::vector<std::string> series_;  // names with a colour of their own, in order
    std::vector<std::string> colors_;
    std::map<std::string, std::string> color_of_;
    std::vector<double> offsets_;  // of bars and boxes beside their category
    bool pie_ = false;
    bool mapped_ = false;          // some layer's colours mean values
    std::map<Side, Json> drawn_;   // units per axis pair
    std::set<std::string> timed_;  // time axes whose domain was said
    std::size_t skipped_ = 0;
    bool drawn_nothing_ = false;
};

}  // namespace cellblock::charts
