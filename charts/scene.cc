// Panel -> marks (see scene.h): the frame of the work, lines, areas and points.
#include "charts/scene.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "charts/layer_look.h"
#include "charts/scene_builder.h"
#include "charts/statistics.h"

namespace cellblock::charts {

namespace {

bool is_point(const Point& point) {
    return std::isfinite(point.x) && std::isfinite(point.y);
}

Dash dash_of(const std::string& line) {
    if (line == "--" || line == "dashed" || line == "dash") return Dash::dashed;
    if (line == ":" || line == "dotted" || line == "dot") return Dash::dotted;
    if (line == "-." || line == "dashdot") return Dash::dash_dot;
    return Dash::solid;
}

// The corners of a step line: where it jumps between two points.
std::vector<Point> steps(const std::vector<Point>& points, const std::string& where) {
    std::vector<Point> result;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i > 0) {
            const Point& last = points[i - 1];
            if (where == "pre") result.push_back({last.x, points[i].y});
            if (where == "post") result.push_back({points[i].x, last.y});
            if (where == "mid") {
                const double middle = (last.x + points[i].x) / 2;
                result.push_back({middle, last.y});
                result.push_back({middle, points[i].y});
            }
        }
        result.push_back(points[i]);
    }
    return result;
}

struct Reach {
    std::optional<std::array<double, 2>>& range;
    void take(double value) const {
        if (!std::isfinite(value)) return;
        if (!range) range = {value, value};
        (*range)[0] = std::min((*range)[0], value);
        (*range)[1] = std::max((*range)[1], value);
    }
};

struct Measure {
    Reach x, y;
    void operator()(const Polyline& line) const {
        for (const Point& point : line.points) take(point.x, point.y);
    }
    void operator()(const Region& region) const {
        for (const Point& point : region.points) take(point.x, point.y);
    }
    void operator()(const Boxes& boxes) const {
        for (const Box& box : boxes.items) {
            take(box.x0, box.y0);
            take(box.x1, box.y1);
        }
    }
    void operator()(const Dots& dots) const {
        for (const Dot& dot : dots.items) take(dot.x, dot.y);
    }
    void operator()(const Labels&) const {}
    void operator()(const Rule& rule) const {
        (rule.across == Across::level ? y : x).take(rule.value);
    }
    void operator()(const Span& span) const {
        (span.across == Across::level ? y : x).take(span.low);
        (span.across == Across::level ? y : x).take(span.high);
    }
    void take(double at_x, double at_y) const {
        x.take(at_x);
        y.take(at_y);
    }
};

}  // namespace

Scene scene_of(const Panel& panel) {
    return SceneBuilder(panel).build();
}

Extent extent_of(const Scene& scene, Side side) {
    Extent extent;
    for (const Mark& shape : scene.marks) {
        if (shape.side == side) std::visit(Measure{{extent.x}, {extent.y}}, shape.form);
    }
    return extent;
}

SceneBuilder::SceneBuilder(const Panel& panel) : panel_(panel) {}

Scene SceneBuilder::build() {
    if (panel_.projection == Projection::polar) {
        polar_frame();
    } else {
        refs();
    }
    for (const Layer& item : panel_.layers) layer(item);
    if (scene_.has_axes) notes();
    legend();
    return std::move(scene_);
}

void SceneBuilder::layer(const Layer& layer) {
    if (panel_.projection == Projection::polar) return polar(layer);
    if (layer.kind == Kind::pie) return pie(layer);
    if (layer.kind == Kind::boxen) return boxens(layer);
    if (!draw_layer(*this, layer)) scene_.not_drawn.emplace_back(to_string(layer.kind));
}

Point SceneBuilder::point(const Layer& layer, double along, double across) const {
    if (layer.orient == Orient::horizontal) return {across, along};
    return {along, across};
}

Box SceneBuilder::box(const Layer& layer, double from, double to, double low, double high,
                      std::string color) const {
    const Point first = point(layer, from, low), last = point(layer, to, high);
    return {first.x, first.y, last.x, last.y, std::move(color)};
}

std::string SceneBuilder::color_of(const Layer& layer) const {
    const std::string color = charts::color_of(panel_, layer);
    const bool black = !layer.color.empty() && luminance(rgb_of(color)) < 0.01;
    return black ? std::string(ink) : color;
}

ColorRamp SceneBuilder::ramp(const Column& values) {
    const auto found = extremes(values);
    ColorRamp result(panel_.color, found ? values[found->lowest] : 0,
                     found ? values[found->highest] : 1);
    scene_.value_range = {result.low(), result.high()};
    return result;
}

void SceneBuilder::runs(const Layer& layer, const std::vector<Point>& points,
                        const Polyline& look) {
    const std::string where = layer.data.word("step");
    std::vector<Point> run;
    const auto flush = [&] {
        if (run.empty()) return;
        Polyline line = look;
        line.points = where.empty() ? run : steps(run, where);
        add(layer, std::move(line));
        run.clear();
    };
    for (const Point& point : points) {
        if (is_point(point)) {
            run.push_back(point);
        } else {
            flush();
        }
    }
    flush();
}

void SceneBuilder::line(const Layer& layer, const Column& x, const Column& y) {
    std::vector<Point> points;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) points.push_back({x[i], y[i]});
    Polyline look;
    look.color = color_of(layer);
    look.width_px = std::clamp(layer.style.width.value_or(1.5) * 1.2, 0.5, 8.0);
    look.opacity = opacity_of(layer, 1);
    look.dash = dash_of(layer.style.line);
    runs(layer, points, look);
    if (layer.style.marker.empty() || points.size() > 500) return;
    Dots dots;
    const double area = std::clamp(layer.style.size.value_or(25), 4.0, 200.0);
    for (const Point& point : points) {
        if (is_point(point)) dots.items.push_back({point.x, point.y, area, look.color});
    }
    add(layer, std::move(dots));
}

void SceneBuilder::area(const Layer& layer) {
    const Column& x = layer.data.numbers("x");
    const Column& low = layer.data.numbers("lo");
    const Column& high = layer.data.numbers("hi");
    Region region;
    region.color = color_of(layer);
    region.opacity = opacity_of(layer, layer.kind == Kind::band ? 0.3 : 0.8);
    std::vector<Point> back;
    const auto flush = [&] {
        if (region.points.empty()) return;
        Region done = region;
        done.points.insert(done.points.end(), back.rbegin(), back.rend());
        add(layer, std::move(done));
        region.points.clear();
        back.clear();
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i]) || !std::isfinite(low[i]) || !std::isfinite(high[i])) {
            flush();
            continue;
        }
        region.points.push_back(point(layer, x[i], high[i]));
        back.push_back(point(layer, x[i], base_of(layer, low[i])));
    }
    flush();
}

void SceneBuilder::scatter(const Layer& layer) {
    const Column& x = layer.data.numbers("x");
    const Column& y = layer.data.numbers("y");
    const Column& size = layer.data.numbers("size");
    const Column& value = layer.data.numbers("c");
    const auto& colors = layer.data.texts("color");
    const auto& texts = layer.data.texts("text");
    const std::optional<ColorRamp> mapped =
        value.empty() ? std::nullopt : std::optional(ramp(value));
    const std::string own = color_of(layer);
    Dots dots;
    dots.opacity = opacity_of(layer, 0.9);
    Labels labels;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
        Dot dot{x[i], y[i], layer.style.size.value_or(36), own};
        if (!size.empty() && std::isfinite(size[i])) dot.area_pt2 = size[i];
        if (mapped && std::isfinite(value[i])) {
            dot.color = mapped->color(value[i]);
        } else if (i < colors.size() && !colors[i].empty()) {
            dot.color = solid(colors[i]);
        }
        dot.area_pt2 = std::clamp(dot.area_pt2, 1.0, 20'000.0);
        dots.items.push_back(std::move(dot));
        if (i < texts.size() && !texts[i].empty() && labels.items.size() < 200) {
            labels.items.push_back({x[i], y[i], texts[i], Anchor::start, {}, 6, -4});
        }
    }
    add(layer, std::move(dots));
    if (!labels.items.empty()) add(layer, std::move(labels));
}

void SceneBuilder::refs() {
    for (const Ref& ref : panel_.refs) {
        const std::string color = ref.color.empty() ? "#888888" : solid(ref.color);
        Mark shape{ref.side, {}};
        switch (ref.kind) {
            case Ref::Kind::hline:
                shape.form = Rule{Across::level, ref.value, color, ref.label.value_or("")};
                break;
            case Ref::Kind::vline:
                shape.form = Rule{Across::upright, ref.value, color, ref.label.value_or("")};
                break;
            case Ref::Kind::hspan:
                shape.form = Span{Across::level, ref.lo, ref.hi, color, 0.2};
                break;
            case Ref::Kind::vspan:
                shape.form = Span{Across::upright, ref.lo, ref.hi, color, 0.2};
                break;
            case Ref::Kind::line: {
                Polyline line;
                line.color = color;
                line.dash = Dash::dashed;
                line.points = {{ref.p1[0], ref.p1[1]}, {ref.p2[0], ref.p2[1]}};
                const double run = ref.p2[0] - ref.p1[0];
                if (panel_.x.lim && run != 0) {
                    const double slope = (ref.p2[1] - ref.p1[1]) / run;
                    line.points.clear();
                    for (const double end : *panel_.x.lim) {
                        line.points.push_back({end, ref.p1[1] + slope * (end - ref.p1[0])});
                    }
                }
                shape.form = std::move(line);
                break;
            }
        }
        scene_.marks.push_back(std::move(shape));
    }
}

void SceneBuilder::notes() {
    Labels labels;
    for (const Note& note : panel_.notes) {
        if (!note.at || !std::isfinite((*note.at)[0]) || !std::isfinite((*note.at)[1])) continue;
        labels.items.push_back({(*note.at)[0], (*note.at)[1], note.text, Anchor::start, {}, 4, -5});
    }
    if (!labels.items.empty()) scene_.marks.push_back({Side::y, std::move(labels)});
}

void SceneBuilder::legend() {
    const auto draws_line = [](const Layer& layer) {
        switch (layer.kind) {
            case Kind::line:
            case Kind::step:
            case Kind::ecdf:
            case Kind::kde:
            case Kind::errorbar:
            case Kind::stem:
                return true;
            default:
                return false;
        }
    };
    std::set<std::string> seen;
    if (panel_.legend) {
        scene_.legend_title = panel_.legend->title.value_or("");
        for (const LegendEntry& entry : panel_.legend->entries) {
            LegendItem item{entry.label, solid(entry.color), false};
            for (const Layer& layer : panel_.layers) {
                if (layer.label != entry.label) continue;
                item.line = draws_line(layer);
                if (item.color.empty()) item.color = color_of(layer);
            }
            for (const Ref& ref : panel_.refs) item.line = item.line || ref.label == entry.label;
            if (item.color.empty()) item.color = ink;
            if (seen.insert(item.label).second) scene_.legend.push_back(std::move(item));
        }
        return;
    }
    for (const Layer& layer : panel_.layers) {
        if (!layer.label || layer.kind == Kind::pie || !seen.insert(*layer.label).second) continue;
        scene_.legend.push_back({*layer.label, color_of(layer), draws_line(layer)});
    }
    if (scene_.legend.size() < 2) scene_.legend.clear();
}

}  // namespace cellblock::charts
