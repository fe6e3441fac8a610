// Pies and polar panels as marks in a square from -1 to 1 (see scene.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "charts/axis_map.h"
#include "charts/layer_look.h"
#include "charts/scene_builder.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr double rim = 0.8;               // of 1: the rest is for labels
constexpr double arc_step = 3;            // degrees between the points of an arc
constexpr std::size_t slices_max = 1000;  // a slice has 240 points, and nobody can tell 1000 apart
constexpr double label_share = 0.02;      // slices below it are named in the data only

Point on_circle(double degrees, double radius) {
    return {radius * std::cos(degrees * degree), radius * std::sin(degrees * degree)};
}

void add_arc(std::vector<Point>& points, double from, double to, double radius) {
    const int steps = std::max(1, static_cast<int>(std::ceil(std::abs(to - from) / arc_step)));
    for (int i = 0; i <= steps; ++i) {
        points.push_back(on_circle(from + (to - from) * i / steps, radius));
    }
}

// A ring's part between two angles; a whole slice when it has no inner radius.
std::vector<Point> wedge(double from, double to, double inner, double outer) {
    std::vector<Point> points;
    to = std::clamp(to, from - 360, from + 360);
    add_arc(points, from, to, outer);
    if (inner > 0) {
        add_arc(points, to, from, inner);
    } else {
        points.push_back({0, 0});
    }
    return points;
}

Anchor anchor_at(const Point& place) {
    if (std::abs(place.x) < 0.15) return Anchor::middle;
    return place.x > 0 ? Anchor::start : Anchor::end;
}

double clamped_angle(double degrees) {
    return std::isfinite(degrees) ? std::clamp(degrees, -36'000.0, 36'000.0) : 0;
}

}  // namespace

void SceneBuilder::pie(const Layer& layer) {
    const LayerData& data = layer.data;
    const auto& labels = data.texts("label");
    const auto& colors = data.texts("color");
    const Column& share = data.numbers("frac");
    const auto number = [&](const char* name, std::size_t i, double fallback) {
        const Column& column = data.numbers(name);
        return i < column.size() && std::isfinite(column[i]) ? column[i] : fallback;
    };
    double largest = 0;
    for (const Layer& other : panel_.layers) {
        for (const double r : other.data.numbers("r")) {
            if (std::isfinite(r)) largest = std::max(largest, r);
        }
    }
    const double scale = rim / (largest > 0 ? largest : 1);
    Labels names;
    double at = 90;
    for (std::size_t i = 0; i < std::min(labels.size(), slices_max); ++i) {
        const double from = clamped_angle(number("angle0", i, at));
        const double to = clamped_angle(number("angle1", i, from + share[i] * 360));
        at = to;
        const double outer = std::abs(number("r", i, largest > 0 ? largest : 1)) * scale;
        const double inner = std::clamp(number("r_inner", i, 0) * scale, 0.0, outer);
        Region slice;
        slice.color = i < colors.size() && !colors[i].empty() ? solid(colors[i]) : series_color(i);
        slice.outline = Outline::ground;
        slice.points = wedge(from, to, inner, outer);
        const Point away =
            on_circle((from + to) / 2, std::clamp(number("explode", i, 0), 0.0, 0.2));
        for (Point& point : slice.points) {
            point.x += away.x;
            point.y += away.y;
        }
        add(layer, std::move(slice));
        if (share[i] < label_share) continue;
        const std::string percent = format_number(std::round(share[i] * 1000) / 10, 4) + "%";
        const Point place = on_circle((from + to) / 2, outer + 0.06);
        const std::string name = labels[i].empty() ? percent : labels[i] + " " + percent;
        // Outer rings carry the names; on inner ones there is no room.
        if (outer > rim * 0.95)
            names.items.push_back({place.x, place.y, name, anchor_at(place), {}});
    }
    if (!names.items.empty()) add(layer, std::move(names));
    scene_.has_axes = false;
    scene_.is_square = true;
}

Point SceneBuilder::polar_point(double angle, double distance) const {
    const double turned = panel_.theta_zero_deg + panel_.theta_direction * angle / degree;
    return on_circle(turned, (distance - inner_) / (reach_ - inner_) * rim);
}

// Rings with their values and spokes with their angles.
void SceneBuilder::polar_frame() {
    scene_.has_axes = false;
    scene_.is_square = true;
    double highest = 0;
    for (const Layer& layer : panel_.layers) {
        for (const char* name : {"y", "value"}) {
            for (const double value : layer.data.numbers(name)) {
                if (std::isfinite(value)) highest = std::max(highest, value);
            }
        }
    }
    const AxisMap radial(panel_.y, std::array<double, 2>{0, highest > 0 ? highest : 1});
    inner_ = radial.low();
    reach_ = radial.high();
    Labels labels;
    Polyline ring;
    ring.color = "#8c959f";
    ring.width_px = 0.7;
    ring.opacity = 0.6;
    const auto add_ring = [&](double part) {
        ring.points.clear();
        add_arc(ring.points, 0, 360, part * rim);
        scene_.marks.push_back({Side::y, ring});
    };
    for (const Tick& tick : radial.ticks(4)) {
        if (tick.at < 0.02) continue;
        if (tick.at < 0.98) add_ring(tick.at);
        const Point at = on_circle(22.5, tick.at * rim);
        labels.items.push_back({at.x, at.y, tick.label, Anchor::middle, "#6e7781"});
    }
    add_ring(1);
    const AxisMap angular(panel_.x, std::array<double, 2>{0, 2 * std::numbers::pi});
    std::vector<Tick> spokes;
    if (!panel_.x.ticks.empty() && panel_.x.ticks.size() <= 24) {
        spokes = angular.ticks(8);
    } else {
        for (int i = 0; i < 8; ++i) {
            spokes.push_back({0, i * std::numbers::pi / 4, std::to_string(i * 45) + "°"});
        }
    }
    for (const Tick& spoke : spokes) {
        const Point end = polar_point(spoke.value, reach_);
        ring.points = {{0, 0}, end};
        scene_.marks.push_back({Side::y, ring});
        labels.items.push_back({end.x * 1.08, end.y * 1.08, spoke.label, anchor_at(end), {}, 0, 4});
    }
    scene_.marks.push_back({Side::y, std::move(labels)});
}

void SceneBuilder::polar_bars(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& angle = data.numbers("pos");
    const Column& value = data.numbers("value");
    const auto& colors = data.texts("color");
    for (std::size_t i = 0; i < std::min(angle.size(), slices_max); ++i) {
        if (!std::isfinite(angle[i]) || !std::isfinite(value[i])) continue;
        const double base = i < data.numbers("base").size() ? data.numbers("base")[i] : 0;
        const double width = i < data.numbers("width").size()
                                 ? data.numbers("width")[i]
                                 : 2 * std::numbers::pi / static_cast<double>(angle.size()) * 0.8;
        const auto degrees = [&](double at) {
            return clamped_angle(panel_.theta_zero_deg + panel_.theta_direction * at / degree);
        };
        const auto radius = [&](double at) {
            return std::clamp((at - inner_) / (reach_ - inner_), 0.0, 1.0) * rim;
        };
        Region bar;
        bar.color = i < colors.size() && !colors[i].empty() ? solid(colors[i]) : color_of(layer);
        bar.opacity = opacity_of(layer, 0.85);
        bar.outline = Outline::ground;
        bar.points = wedge(degrees(angle[i] - width / 2), degrees(angle[i] + width / 2),
                           radius(base), radius(base + value[i]));
        add(layer, std::move(bar));
    }
}

void SceneBuilder::polar(const Layer& layer) {
    if (layer.kind == Kind::bar) return polar_bars(layer);
    const bool is_band = layer.kind == Kind::band || layer.kind == Kind::area;
    const bool is_line = layer.kind == Kind::line || layer.kind == Kind::step;
    if (!is_band && !is_line && layer.kind != Kind::scatter) {
        scene_.not_drawn.emplace_back(to_string(layer.kind));
        return;
    }
    const Column& angle = layer.data.numbers("x");
    const Column& distance = layer.data.numbers(is_band ? "hi" : "y");
    std::vector<Point> points;
    for (std::size_t i = 0; i < angle.size() && i < distance.size(); ++i) {
        points.push_back(polar_point(angle[i], distance[i]));
    }
    if (is_line) {
        Polyline look;
        look.color = color_of(layer);
        look.width_px = 2;
        look.opacity = opacity_of(layer, 1);
        return runs(layer, points, look);
    }
    std::erase_if(points, [](const Point& point) { return !std::isfinite(point.x + point.y); });
    if (is_band) {
        Region region;
        region.color = color_of(layer);
        region.opacity = opacity_of(layer, 0.3);
        region.points = std::move(points);
        add(layer, std::move(region));
        return;
    }
    const Column& value = layer.data.numbers("c");
    const std::optional<ColorRamp> mapped =
        value.empty() ? std::nullopt : std::optional(ramp(value));
    Dots dots;
    dots.opacity = opacity_of(layer, 0.9);
    for (std::size_t i = 0; i < points.size(); ++i) {
        // Colours go by index: only where no point was dropped above.
        const bool colored = mapped && points.size() == value.size() && std::isfinite(value[i]);
        dots.items.push_back({points[i].x, points[i].y, layer.style.size.value_or(36),
                              colored ? mapped->color(value[i]) : color_of(layer)});
    }
    add(layer, std::move(dots));
}

}  // namespace cellblock::charts
