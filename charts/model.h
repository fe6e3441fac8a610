// The chart model: what a figure shows, as data, whichever library drew it.
//
// A Figure has panels (axes), a panel has layers (one per drawn series), a layer has columns whose
// names depend on its kind (charts/kinds.h is the table). It is made from JSON that the guest sent:
// `parse_figure` bounds it, checks it and drops what it does not know, so that everything behind it
// can trust lengths, names and finiteness. Plain values, no thread owns them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "charts/layer_data.h"

namespace cellblock::charts {

enum class Scale {
    linear,
    log,
    symlog,
    logit,
    asinh,
    datetime,
    categorical,
    function,
    functionlog,
    unknown,
};
std::string_view to_string(Scale scale);

enum class Projection { cartesian, polar, spatial, geo, none };

struct Secondary {
    std::optional<std::string> label;
    std::array<std::array<double, 2>, 2> map{};  // two points of primary -> secondary
};

struct Axis {
    std::optional<std::string> label;
    std::optional<std::string> unit;
    Scale scale = Scale::linear;
    std::optional<double> base;                // log
    std::optional<double> linthresh;           // symlog, asinh
    std::optional<std::array<double, 2>> lim;  // finite, in the axis' values
    bool inverted = false;
    std::vector<double> ticks;  // as long as tick_labels
    std::vector<std::string> tick_labels;
    std::string offset;  // what ScalarFormatter writes beside the axis: "1e6"
    std::vector<std::string> categories;
    std::vector<double> positions;  // where the categories are; as long as categories
    bool strings = false;  // the user plotted strings; else the categories are labels set on ticks
    // Dates are milliseconds since 1970-01-01 UTC; naive ones read as if they were UTC.
    std::string tz;
    std::optional<int> tz_offset_min;
    bool date_only = false;
    std::optional<Secondary> secondary;
};

struct ColorScale {
    std::optional<std::string> label;
    std::string cmap;
    std::string scale;
    std::optional<std::array<double, 2>> lim;
    std::vector<double> levels;
};

struct LegendEntry {
    std::string label;
    std::string color;
    std::string marker;
};

struct Legend {
    std::optional<std::string> title;
    std::vector<LegendEntry> entries;
};

enum class Side { y, y2, x2 };
enum class Orient { vertical, horizontal };

struct Style {
    std::string marker;
    std::string line;
    std::string hatch;
    std::optional<double> width;
    std::optional<double> alpha;
    std::optional<double> size;
    bool segments = false;  // a line that is a set of segments (hlines, a dendrogram)
};

struct Sampled {
    std::string method;
    std::uint64_t kept = 0;
};

struct Layer {
    std::string id;
    Kind kind = Kind::unknown;
    std::string kind_name;  // as sent: may be one that we do not know
    std::optional<std::string> label;
    std::map<std::string, std::string> series;  // variable -> value
    std::string color;                          // "#rrggbb[aa]" or empty
    Side side = Side::y;
    Orient orient = Orient::vertical;
    Style style;
    std::optional<std::uint64_t> n;  // points before downsampling; a histogram's observations
    std::optional<Sampled> sampled;
    bool computed = true;
    std::string error;  // why the data is not there
    LayerData data;
};

struct Ref {
    enum class Kind { hline, vline, line, hspan, vspan };
    Kind kind = Kind::hline;
    Side side = Side::y;
    double value = 0, lo = 0, hi = 0;
    std::array<double, 2> p1{}, p2{};
    std::optional<std::string> label;
    std::string color;
};

struct Note {
    std::string text;
    std::optional<std::array<double, 2>> at;    // in data
    std::optional<std::array<double, 2>> axes;  // fractions of the panel
};

struct Cell {
    std::uint32_t row = 0, column = 0, row_span = 1, column_span = 1;
};

struct Panel {
    std::string id;
    std::optional<std::string> title;
    std::optional<Cell> cell;
    std::optional<std::array<double, 4>> bounds;
    std::string inset_of;
    std::map<std::string, std::string> facet;
    Projection projection = Projection::cartesian;
    Axis x, y;
    std::optional<Axis> x2, y2, z;
    std::optional<ColorScale> color;
    double theta_zero_deg = 0;
    int theta_direction = 1;
    std::vector<Layer> layers;
    std::vector<Ref> refs;
    std::vector<Note> notes;
    std::optional<Legend> legend;
    std::vector<std::string> shares_x, shares_y;
};

struct Figure {
    std::string id;
    std::optional<std::string> title;
    std::string library;
    std::string library_version;
    std::optional<std::array<double, 2>> size_px;
    std::uint32_t rows = 1, columns = 1;
    std::vector<Panel> panels;
    std::optional<Legend> legend;
    std::vector<std::string> warnings;
    bool partial = false;
};

// guest_protocol when it is no chart model, too_large past a limit of base/limits.h. A layer whose
// data does not fit its kind becomes Kind::unknown with `error` set, and the rest stays.
Result<Figure> parse_figure(const Json& value);
// The same from text, bounded before parsing.
Result<Figure> parse_figure(std::string_view text);

// The model as we serve it: the guest's format, checked, with plain lists.
Json to_json(const Figure& figure);

// The axes that a layer's columns go by.
const Axis& x_axis(const Panel& panel, const Layer& layer);
const Axis& y_axis(const Panel& panel, const Layer& layer);
// Where bars, boxes and violins stand, and what they measure.
const Axis& position_axis(const Panel& panel, const Layer& layer);
const Axis& value_axis(const Panel& panel, const Layer& layer);

}  // namespace cellblock::charts
