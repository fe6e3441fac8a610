// The marks of a panel in pixels (see svg_panel.h).
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "charts/svg_panel.h"
#include "charts/text_size.h"

namespace cellblock::charts {

namespace {

constexpr double label_px = 11;
constexpr std::size_t labels_max = 400;
constexpr std::size_t thin_from = 2000;  // points that a line may have before it is thinned
constexpr double px_per_pt = 96.0 / 72;

bool is_pixel(const Pixel& pixel) {
    return std::isfinite(pixel.x) && std::isfinite(pixel.y);
}

// First, lowest, highest and last of the points that share a column of pixels: the same picture
// with four points a column (M4, Jugel et al. 2014).
std::vector<Pixel> thinned(const std::vector<Pixel>& points) {
    if (points.size() < thin_from) return points;
    std::vector<Pixel> kept;
    for (std::size_t begin = 0; begin < points.size();) {
        const double column = std::floor(points[begin].x);
        std::size_t end = begin, low = begin, high = begin;
        while (end < points.size() && std::floor(points[end].x) == column) {
            if (points[end].y < points[low].y) low = end;
            if (points[end].y > points[high].y) high = end;
            ++end;
        }
        std::vector<std::size_t> chosen{begin, low, high, end - 1};
        std::sort(chosen.begin(), chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
        for (const std::size_t i : chosen) kept.push_back(points[i]);
        begin = end;
    }
    return kept;
}

}  // namespace

void SvgPanel::draw_shapes() {
    // Words stand on top of everything, and outside of the clip path: none is cut.
    canvas_.begin_clip(scene_.is_square
                           ? plot_
                           : Rect{plot_.x - 1, plot_.y - 1, plot_.width + 2, plot_.height + 2});
    for (const Mark& item : scene_.marks) {
        if (std::holds_alternative<Labels>(item.form)) continue;
        std::visit([&](const auto& form) { shape(item.side, form); }, item.form);
    }
    canvas_.end_clip();
    for (const Mark& item : scene_.marks) {
        if (const auto* labels = std::get_if<Labels>(&item.form)) shape(item.side, *labels);
    }
}

void SvgPanel::shape(Side side, const Polyline& line) {
    std::vector<Pixel> points, run;
    const auto flush = [&] {
        canvas_.stroke(thinned(run), line);
        run.clear();
    };
    for (const Point& point : line.points) {
        const Pixel at = pixel(side, point.x, point.y);
        if (is_pixel(at)) {
            run.push_back(at);
        } else {
            flush();
        }
    }
    flush();
}

void SvgPanel::shape(Side side, const Region& region) {
    std::vector<Pixel> points;
    for (const Point& point : region.points) {
        const Pixel at = pixel(side, point.x, point.y);
        if (is_pixel(at)) points.push_back(at);
    }
    canvas_.fill(points, region);
}

void SvgPanel::shape(Side side, const Boxes& boxes) {
    std::map<std::string, std::vector<Rect>> by_color;
    for (const Box& box : boxes.items) {
        Pixel from = pixel(side, box.x0, box.y0), to = pixel(side, box.x1, box.y1);
        if (!is_pixel(from) || !is_pixel(to)) continue;
        if (from.x > to.x) std::swap(from.x, to.x);
        if (from.y > to.y) std::swap(from.y, to.y);
        // Far out is as good as outside, and keeps sizes sane.
        from = {std::max(from.x, plot_.x - 50), std::max(from.y, plot_.y - 50)};
        to = {std::min(to.x, plot_.right() + 50), std::min(to.y, plot_.bottom() + 50)};
        if (to.x < from.x || to.y < from.y) continue;
        // Neighbouring cells overlap by a hair, or a seam of the ground shows between them.
        const double seam = boxes.outline == Outline::none && boxes.items.size() > 60 ? 0.3 : 0;
        by_color[box.color].push_back({from.x, from.y, std::max(to.x - from.x + seam, 0.4),
                                       std::max(to.y - from.y + seam, 0.4)});
    }
    for (const auto& [color, rects] : by_color) {
        canvas_.rects(rects, color, boxes.opacity, boxes.outline);
    }
}

void SvgPanel::shape(Side side, const Dots& dots) {
    // One element for points that look alike and follow each other; overlapping points of one path
    // do not add up, so translucent ones stay apart while they are few.
    const bool apart = dots.opacity < 1 && dots.items.size() <= 3000;
    std::map<std::pair<std::string, long>, std::vector<Pixel>> alike;
    const auto tenths = [](double area_pt2) {
        return std::lround(std::sqrt(area_pt2) * px_per_pt * 10);
    };
    for (const Dot& dot : dots.items) {
        const Pixel at = pixel(side, dot.x, dot.y);
        if (!is_pixel(at)) continue;
        if (at.x < plot_.x - 60 || at.x > plot_.right() + 60 || at.y < plot_.y - 60 ||
            at.y > plot_.bottom() + 60) {
            continue;
        }
        const long size = std::max(10L, tenths(dot.area_pt2));
        if (apart) {
            canvas_.dots({at}, static_cast<double>(size) / 10, dot.color, dots);
        } else {
            alike[{dot.color, size}].push_back(at);
        }
    }
    for (const auto& [look, places] : alike) {
        canvas_.dots(places, static_cast<double>(look.second) / 10, look.first, dots);
    }
}

bool SvgPanel::claim(const Rect& place) {
    if (texts_.size() >= labels_max) return false;
    for (const Rect& taken : texts_) {
        if (place.x < taken.right() && taken.x < place.right() && place.y < taken.bottom() &&
            taken.y < place.bottom()) {
            return false;
        }
    }
    texts_.push_back(place);
    return true;
}

void SvgPanel::shape(Side side, const Labels& labels) {
    for (const Label& label : labels.items) {
        Pixel at = pixel(side, label.x, label.y);
        if (!is_pixel(at)) continue;
        // A note on a point outside of the axes is not shown there either.
        if (at.x < plot_.x - 2 || at.x > plot_.right() + 2 || at.y < plot_.y - 2 ||
            at.y > plot_.bottom() + 2) {
            continue;
        }
        at.x += label.dx_px;
        at.y += label.dy_px;
        const std::string text = fitted_text(label.text, place_.width * 0.45, label_px);
        const double width = text_width_em(text) * label_px;
        Anchor anchor = label.anchor;
        double left = anchor == Anchor::start    ? at.x
                      : anchor == Anchor::middle ? at.x - width / 2
                                                 : at.x - width;
        // Back into the panel where it would stand out of it.
        const double moved = std::clamp(left, place_.x, std::max(place_.x, place_.right() - width));
        at.x += moved - left;
        left = moved;
        at.y = std::clamp(at.y, place_.y + label_px, place_.bottom() - 2);
        if (!claim({left - 1, at.y - label_px, width + 2, label_px + 2})) continue;
        TextLook look;
        look.size_px = label_px;
        look.anchor = anchor;
        look.color = label.color;
        canvas_.text(at, text, look);
    }
}

void SvgPanel::shape(Side side, const Rule& rule) {
    const bool level = rule.across == Across::level;
    const double at = level ? y_of(side).map.at(rule.value) : x_of(side).map.at(rule.value);
    if (!(at >= -0.001 && at <= 1.001)) return;
    Polyline look;
    look.color = rule.color;
    look.dash = Dash::dashed;
    const double x = plot_.x + at * plot_.width, y = plot_.bottom() - at * plot_.height;
    if (level) {
        canvas_.stroke({{plot_.x, y}, {plot_.right(), y}}, look);
    } else {
        canvas_.stroke({{x, plot_.y}, {x, plot_.bottom()}}, look);
    }
}

void SvgPanel::shape(Side side, const Span& span) {
    const bool level = span.across == Across::level;
    const AxisMap& map = level ? y_of(side).map : x_of(side).map;
    const double from = std::clamp(map.at(span.low), 0.0, 1.0);
    const double to = std::clamp(map.at(span.high), 0.0, 1.0);
    if (std::isnan(from) || std::isnan(to)) return;
    const double low = std::min(from, to), size = std::abs(to - from);
    const Rect area =
        level ? Rect{plot_.x, plot_.bottom() - (low + size) * plot_.height, plot_.width,
                     size * plot_.height}
              : Rect{plot_.x + low * plot_.width, plot_.y, size * plot_.width, plot_.height};
    canvas_.rects({area}, span.color, span.opacity, Outline::none);
}

}  // namespace cellblock::charts
