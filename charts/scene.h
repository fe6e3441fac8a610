// A panel as plain marks in the values of its axes: what every writer that draws by itself (SVG,
// terminal) starts from, so that only one place knows how a violin or a wind rose looks.
//
// Polar panels and pies are put where they are seen, in a square from -1 to 1 without axes. Colours
// are "#rrggbb", or `ink` for the colour of the text, which depends on the ground.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "charts/model.h"

namespace cellblock::charts {

inline constexpr std::string_view ink = "ink";

struct Point {
    double x = 0, y = 0;
};

enum class Dash { solid, dashed, dotted, dash_dot };
enum class Anchor { start, middle, end };

// An open line; every point is finite.
struct Polyline {
    std::vector<Point> points;
    std::string color;  // "#rrggbb"
    double width_px = 1.5;
    double opacity = 1;
    Dash dash = Dash::solid;
    bool arrow = false;  // a head at its last point
};

// In the colour of the ground (neighbours stay apart), or of the text.
enum class Outline { none, ground, ink };

// A closed area.
struct Region {
    std::vector<Point> points;
    std::string color;
    double opacity = 1;
    Outline outline = Outline::none;
};

struct Box {
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    std::string color;
};

// Bars and cells, many of one look.
struct Boxes {
    std::vector<Box> items;
    double opacity = 1;
    Outline outline = Outline::none;
};

struct Dot {
    double x = 0, y = 0;
    double area_pt2 = 36;
    std::string color;
};

struct Dots {
    std::vector<Dot> items;
    double opacity = 1;
    bool hollow = false;
};

struct Label {
    double x = 0, y = 0;
    std::string text;
    Anchor anchor = Anchor::middle;
    std::string color;  // empty: the text's
    double dx_px = 0, dy_px = 0;
};

struct Labels {
    std::vector<Label> items;
};

// A line at one value across the whole panel, and the band between two.
enum class Across { level, upright };
struct Rule {
    Across across = Across::level;
    double value = 0;
    std::string color;
    std::string label;
};
struct Span {
    Across across = Across::level;
    double low = 0, high = 0;
    std::string color;
    double opacity = 0.25;
};

struct Mark {
    Side side = Side::y;  // which axes its values belong to
    std::variant<Polyline, Region, Boxes, Dots, Labels, Rule, Span> form;
};

struct LegendItem {
    std::string label;
    std::string color;
    bool line = false;  // else a swatch
};

struct Scene {
    std::vector<Mark> marks;
    bool has_axes = true;
    bool is_square = false;  // both axes have the same scale
    std::vector<LegendItem> legend;
    std::string legend_title;
    std::optional<std::array<double, 2>> value_range;  // of colours that mean values
    std::vector<std::string> not_drawn;                // kinds that have no flat form
};

Scene scene_of(const Panel& panel);

// The smallest and largest values of the marks of one side, by axis; nothing without marks.
struct Extent {
    std::optional<std::array<double, 2>> x, y;
};
Extent extent_of(const Scene& scene, Side side);

}  // namespace cellblock::charts
