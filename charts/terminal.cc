// Figure -> terminal text (see terminal.h): titles, legends, axes and the plot of dots.
#include "charts/terminal.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/unicode.h"
#include "charts/axis_map.h"
#include "charts/describe.h"
#include "charts/scene.h"
#include "charts/terminal_bars.h"
#include "charts/terminal_canvas.h"

namespace cellblock::charts {

namespace {

constexpr std::size_t label_columns_max = 14;
constexpr std::size_t axis_labels_max = 24;
constexpr std::size_t panels_max = 16;

// The marks of one panel on a canvas of dots.
class Plot {
  public:
    Plot(const Panel& panel, const TerminalOptions& options);
    std::string text();

  private:
    struct Place {
        double x, y;
    };
    Place place(Side side, const Point& point) const;
    void shape(Side side, const Polyline& line);
    void shape(Side side, const Region& region);
    void shape(Side side, const Boxes& boxes);
    void shape(Side side, const Dots& dots);
    void shape(Side side, const Labels& labels);
    void shape(Side side, const Rule& rule);
    void shape(Side, const Span&) {}  // there is no colour behind dots
    void fill(const std::vector<Place>& corners, const std::string& color, long sparse);
    void label_rows(std::vector<std::string>& left) const;
    std::string label_columns() const;

    const TerminalOptions& options_;
    Scene scene_;
    AxisMap x_, y_;
    std::optional<AxisMap> x2_, y2_;
    std::vector<Tick> y_ticks_;
    std::size_t left_ = 0;
    std::size_t columns_ = 0;
    TerminalCanvas canvas_;
};

std::optional<AxisMap> optional_map(const std::optional<Axis>& axis, const Scene& scene,
                                    Side side) {
    if (!axis) return std::nullopt;
    const Extent extent = extent_of(scene, side);
    return AxisMap(*axis, side == Side::x2 ? extent.x : extent.y);
}

std::size_t label_room(const std::vector<Tick>& ticks) {
    std::size_t widest = 0;
    for (const Tick& tick : ticks) widest = std::max(widest, display_width(tick.label));
    return std::min(widest, label_columns_max);
}

Plot::Plot(const Panel& panel, const TerminalOptions& options)
    : options_(options),
      scene_(scene_of(panel)),
      x_(panel.x, extent_of(scene_, Side::y).x),
      y_(panel.y, extent_of(scene_, Side::y).y),
      x2_(optional_map(panel.x2, scene_, Side::x2)),
      y2_(optional_map(panel.y2, scene_, Side::y2)),
      y_ticks_(scene_.has_axes ? y_.ticks(options.rows / 3 + 1) : std::vector<Tick>()),
      left_(label_room(y_ticks_) + 2),
      // A square of cells is twice as wide as high.
      columns_(scene_.is_square ? options.rows * 2
                                : std::max<std::size_t>(options.columns - left_, 10)),
      canvas_(columns_, options.rows) {}

Plot::Place Plot::place(Side side, const Point& point) const {
    const auto wide = static_cast<double>(columns_ * 2 - 1);
    const auto high = static_cast<double>(options_.rows * 4 - 1);
    if (scene_.is_square) return {(point.x + 1) / 2 * wide, (1 - point.y) / 2 * high};
    const AxisMap& x = side == Side::x2 && x2_ ? *x2_ : x_;
    const AxisMap& y = side == Side::y2 && y2_ ? *y2_ : y_;
    return {x.at(point.x) * wide, (1 - y.at(point.y)) * high};
}

void Plot::shape(Side side, const Polyline& line) {
    for (std::size_t i = 1; i < line.points.size(); ++i) {
        const Place from = place(side, line.points[i - 1]), to = place(side, line.points[i]);
        canvas_.line(from.x, from.y, to.x, to.y, line.color);
    }
    if (line.points.size() == 1) {
        const Place at = place(side, line.points.front());
        canvas_.line(at.x, at.y, at.x, at.y, line.color);
    }
}

// Every nth dot of a polygon, row by row between its edges.
void Plot::fill(const std::vector<Place>& corners, const std::string& color, long sparse) {
    for (long y = 0; y < canvas_.dots_high(); ++y) {
        std::vector<double> crossings;
        const double level = static_cast<double>(y) + 0.5;
        for (std::size_t i = 0; i < corners.size(); ++i) {
            const Place& a = corners[i];
            const Place& b = corners[(i + 1) % corners.size()];
            if ((a.y <= level) == (b.y <= level)) continue;
            crossings.push_back(a.x + (level - a.y) / (b.y - a.y) * (b.x - a.x));
        }
        std::sort(crossings.begin(), crossings.end());
        for (std::size_t i = 0; i + 1 < crossings.size(); i += 2) {
            const double last = static_cast<double>(canvas_.dots_wide());
            const auto from = static_cast<long>(std::clamp(std::ceil(crossings[i]), 0.0, last));
            const auto to = static_cast<long>(std::clamp(crossings[i + 1], -1.0, last));
            for (long x = from; x <= to; ++x) {
                if ((x + y * 2) % sparse == 0) canvas_.dot(x, y, color);
            }
        }
    }
}

void Plot::shape(Side side, const Region& region) {
    std::vector<Place> corners;
    for (const Point& point : region.points) {
        const Place at = place(side, point);
        if (std::isfinite(at.x + at.y)) corners.push_back(at);
    }
    fill(corners, region.color, region.opacity < 0.5 ? 4 : 2);
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const Place& to = corners[(i + 1) % corners.size()];
        canvas_.line(corners[i].x, corners[i].y, to.x, to.y, region.color);
    }
}

void Plot::shape(Side side, const Boxes& boxes) {
    for (const Box& box : boxes.items) {
        const Place a = place(side, {box.x0, box.y0}), b = place(side, {box.x1, box.y1});
        if (!std::isfinite(a.x + a.y + b.x + b.y)) continue;
        const double wide = static_cast<double>(canvas_.dots_wide() - 1);
        const double high = static_cast<double>(canvas_.dots_high() - 1);
        const auto inside = [](double low, double value, double top) {
            return std::lround(std::clamp(value, low, top));
        };
        const long x0 = inside(0, std::min(a.x, b.x), wide),
                   x1 = inside(-1, std::max(a.x, b.x), wide);
        const long y0 = inside(0, std::min(a.y, b.y), high),
                   y1 = inside(-1, std::max(a.y, b.y), high);
        for (long y = y0; y <= y1; ++y) {
            for (long x = x0; x <= x1; ++x) canvas_.dot(x, y, box.color);
        }
    }
}

void Plot::shape(Side side, const Dots& dots) {
    for (const Dot& dot : dots.items) {
        const Place at = place(side, {dot.x, dot.y});
        canvas_.line(at.x, at.y, at.x, at.y, dot.color);
    }
}

void Plot::shape(Side side, const Labels& labels) {
    std::size_t shown = 0;
    for (const Label& label : labels.items) {
        const Place at = place(side, {label.x, label.y});
        if (!std::isfinite(at.x + at.y) || std::abs(at.x) > 1e6 || std::abs(at.y) > 1e6) continue;
        if (++shown > axis_labels_max) return;
        const std::string text = fitted_columns(label.text, 24);
        const auto width = static_cast<long>(display_width(text));
        const long shift = label.anchor == Anchor::start    ? 0
                           : label.anchor == Anchor::middle ? width / 2
                                                            : width;
        const long column = std::clamp(std::lround(at.x) / 2 - shift, 0L,
                                       std::max(0L, static_cast<long>(columns_) - width));
        canvas_.words(column, std::lround(at.y) / 4, text);
    }
}

void Plot::shape(Side side, const Rule& rule) {
    const bool level = rule.across == Across::level;
    const Place at = place(side, {rule.value, rule.value});
    const double where = level ? at.y : at.x;
    const long length = level ? canvas_.dots_wide() : canvas_.dots_high();
    if (!std::isfinite(where) || where < 0 || where > 1e6) return;
    for (long i = 0; i < length; ++i) {
        if (i % 4 >= 2) continue;
        canvas_.dot(level ? i : std::lround(where), level ? std::lround(where) : i, rule.color);
    }
}

void Plot::label_rows(std::vector<std::string>& left) const {
    for (const Tick& tick : y_ticks_) {
        const auto row = static_cast<std::size_t>(
            std::lround((1 - tick.at) * static_cast<double>(options_.rows - 1)));
        // Neighbouring rows keep their distance: two labels in two rows read as one column.
        const bool free = left[row].empty() && (row == 0 || left[row - 1].empty()) &&
                          (row + 1 >= left.size() || left[row + 1].empty());
        if (free) left[row] = fitted_columns(tick.label, label_columns_max);
    }
}

std::string Plot::label_columns() const {
    std::string line;
    std::size_t width = 0;
    for (const Tick& tick : x_.ticks(columns_ / 12 + 1)) {
        const std::string label = fitted_columns(tick.label, label_columns_max);
        const std::size_t size = display_width(label);
        const auto at =
            static_cast<std::size_t>(std::lround(tick.at * static_cast<double>(columns_ - 1)));
        const std::size_t begin =
            std::min(at > size / 2 ? at - size / 2 : 0, columns_ > size ? columns_ - size : 0);
        if (begin < width + (width > 0 ? 2 : 0)) continue;
        line += std::string(begin - width, ' ') + label;
        width = begin + size;
    }
    return line;
}

std::string Plot::text() {
    if (scene_.marks.empty()) return {};
    for (const Mark& item : scene_.marks) {
        std::visit([&](const auto& form) { shape(item.side, form); }, item.form);
    }
    std::vector<std::string> left(options_.rows);
    label_rows(left);
    std::string text;
    for (const LegendItem& item : scene_.legend) {
        text += inked("■ ", item.color, options_.ink) + fitted_columns(item.label, 30) + "  ";
    }
    if (!scene_.legend.empty()) text += "\n";
    if (scene_.has_axes && !y_.title().empty()) {
        text += fitted_columns(y_.title(), options_.columns) + "\n";
    }
    for (std::size_t row = 0; row < options_.rows; ++row) {
        std::string line = scene_.has_axes ? padded_left(left[row], left_ - 2) + " " : "";
        if (scene_.has_axes) line += left[row].empty() ? "│" : "┤";
        line += canvas_.row_text(row, options_.ink);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    if (!scene_.has_axes) return text;
    text += std::string(left_ - 1, ' ') + "└";
    for (std::size_t i = 0; i < columns_; ++i) text += "─";
    text += "\n" + std::string(left_, ' ') + label_columns() + "\n";
    if (!x_.title().empty()) {
        const std::string name = fitted_columns(x_.title(), columns_);
        text += std::string(left_ + (columns_ - display_width(name)) / 2, ' ') + name + "\n";
    }
    return text;
}

std::string panel_text(const Panel& panel, const TerminalOptions& options) {
    if (is_listed(panel)) return listed_text(panel, options);
    if (is_shaded(panel, options)) return shaded_text(panel, options);
    std::string text = Plot(panel, options).text();
    if (!text.empty()) return text;
    for (const Layer& layer : panel.layers) {
        text += fitted_columns(describe_layer(panel, layer), options.columns) + "\n";
    }
    return text;
}

}  // namespace

std::string to_terminal(const Figure& figure, const TerminalOptions& options) {
    TerminalOptions sized = options;
    sized.columns = std::clamp<std::size_t>(options.columns, 30, 400);
    sized.rows = std::clamp<std::size_t>(options.rows, 6, 100);
    std::string text;
    if (figure.title) text += fitted_columns(*figure.title, sized.columns) + "\n";
    for (std::size_t i = 0; i < figure.panels.size() && i < panels_max; ++i) {
        if (!text.empty()) text += "\n";
        const Panel& panel = figure.panels[i];
        if (panel.title) text += fitted_columns(*panel.title, sized.columns) + "\n";
        text += panel_text(panel, sized);
    }
    if (figure.panels.size() > panels_max) {
        text += "… " + std::to_string(figure.panels.size() - panels_max) + " more panels\n";
    }
    return text;
}

}  // namespace cellblock::charts
