// Layout and frame of one panel (see svg_panel.h); the shapes are in svg_shapes.cc.
#include "charts/svg_panel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "charts/colors.h"
#include "charts/text.h"
#include "charts/text_size.h"

namespace cellblock::charts {

namespace {

constexpr double tick_px = 11;  // font sizes
constexpr double name_px = 12;
constexpr double title_px = 14;
constexpr double legend_px = 12;
constexpr double line_px = 18;  // one line of names
constexpr double mark_px = 4;   // a tick's mark
constexpr double tick_gap_px = 6;
constexpr double turned_deg = 40;
constexpr double turned_label_px = 110;
constexpr double bar_px = 12;  // the colour bar's width
constexpr std::size_t legend_lines_max = 4;

double width_of(const std::string& text, double font_px) {
    return text_width_em(text) * font_px;
}

// Every nth, so that at most one label stands in each `pitch`.
void thin(std::vector<Tick>& ticks, std::size_t keep_every) {
    if (keep_every < 2) return;
    std::vector<Tick> kept;
    for (std::size_t i = 0; i < ticks.size(); i += keep_every) kept.push_back(std::move(ticks[i]));
    ticks = std::move(kept);
}

bool labels_touch(const std::vector<Tick>& ticks, double length) {
    double end = -INFINITY;
    for (const Tick& tick : ticks) {
        const double half = width_of(tick.label, tick_px) / 2;
        if (tick.at * length - half < end + tick_gap_px) return true;
        end = tick.at * length + half;
    }
    return false;
}

double closest(const std::vector<Tick>& ticks, double length) {
    double pitch = INFINITY;
    for (std::size_t i = 1; i < ticks.size(); ++i) {
        pitch = std::min(pitch, (ticks[i].at - ticks[i - 1].at) * length);
    }
    return pitch;
}

std::size_t steps_for(double wanted_px, double pitch_px) {
    if (!(pitch_px > 0)) return 1'000'000;
    return static_cast<std::size_t>(std::max(1.0, std::ceil(wanted_px / pitch_px)));
}

std::string wrapped_title(const std::string& title, double width_px, double font_px) {
    std::string text = title;
    std::replace(text.begin(), text.end(), '\n', ' ');
    return fitted_text(text, width_px, font_px);
}

std::optional<AxisMap> optional_map(const std::optional<Axis>& axis, const Scene& scene,
                                    Side side) {
    if (!axis) return std::nullopt;
    const Extent extent = extent_of(scene, side);
    return AxisMap(*axis, side == Side::x2 ? extent.x : extent.y);
}

}  // namespace

LegendLines lay_out_legend(const std::vector<LegendItem>& items, double width_px) {
    LegendLines result;
    double x = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string text =
            fitted_text(items[i].label, std::max(40.0, width_px - 30), legend_px);
        const double width = 22 + width_of(text, legend_px) + 14;
        if (result.lines.empty() || (x > 0 && x + width > width_px)) {
            if (result.lines.size() == legend_lines_max) {
                const std::string rest = "… " + std::to_string(items.size() - i) + " more";
                result.lines.back().push_back({items.size(), x, rest});
                break;
            }
            result.lines.emplace_back();
            x = 0;
        }
        result.lines.back().push_back({i, x, text});
        x += width;
    }
    result.height_px = static_cast<double>(result.lines.size()) * line_px;
    return result;
}

void draw_legend(SvgCanvas& canvas, const std::vector<LegendItem>& items, const LegendLines& lines,
                 Pixel corner) {
    double y = corner.y + line_px / 2;
    for (const auto& line : lines.lines) {
        for (const LegendLines::Entry& entry : line) {
            const double x = corner.x + entry.x;
            TextLook look;
            look.size_px = legend_px;
            if (entry.item >= items.size()) {
                canvas.text({x, y + 4}, entry.text, look);
                continue;
            }
            const LegendItem& item = items[entry.item];
            if (item.line) {
                Polyline sample;
                sample.color = item.color;
                sample.width_px = 2.5;
                canvas.stroke({{x, y}, {x + 16, y}}, sample);
            } else {
                canvas.swatch({x + 2, y - 6, 12, 12}, item.color);
            }
            canvas.text({x + 21, y + 4}, entry.text, look);
        }
        y += line_px;
    }
}

SvgPanel::SvgPanel(const Panel& panel, SvgCanvas& canvas, const Rect& place,
                   const std::optional<std::string>& title, LegendPlace legend)
    : panel_(panel),
      canvas_(canvas),
      place_(place),
      title_(title.value_or("")),
      legend_place_(legend),
      scene_(scene_of(panel)),
      x_(AxisMap(panel.x, extent_of(scene_, Side::y).x)),
      y_(AxisMap(panel.y, extent_of(scene_, Side::y).y)) {
    if (auto map = optional_map(panel.x2, scene_, Side::x2)) x2_.emplace(std::move(*map));
    if (auto map = optional_map(panel.y2, scene_, Side::y2)) y2_.emplace(std::move(*map));
}

void SvgPanel::draw() {
    if (legend_place_ == LegendPlace::panel)
        legend_ = lay_out_legend(scene_.legend, place_.width - 8);
    make_room();
    double y = place_.y;
    if (!title_.empty()) {
        TextLook look;
        look.size_px = title_px;
        look.anchor = Anchor::middle;
        look.strong = true;
        canvas_.text({place_.x + place_.width / 2, y + 16},
                     wrapped_title(title_, place_.width - 8, title_px * 1.08), look);
        y += 24;
    }
    draw_legend(canvas_, scene_.legend, legend_, {place_.x + 4, y});
    if (scene_.marks.empty()) return draw_sentence();
    if (scene_.has_axes) draw_axes();
    draw_shapes();
    if (scene_.value_range) draw_colour_bar();
}

void SvgPanel::make_room() {
    plot_ = place_;
    const double top =
        (title_.empty() ? 4 : 24) + legend_.height_px + (legend_.lines.empty() ? 0 : 4);
    plot_.y += top;
    plot_.height -= top;
    if (scene_.value_range) {
        const bool named = panel_.color && panel_.color->label;
        plot_.width -= 14 + bar_px + 46 + (named ? line_px : 0);
    }
    if (!scene_.has_axes) return make_square();
    plot_.height = std::max(30.0, plot_.height - 8);
    fit_upright(y_, plot_.height);
    double left = y_.labels_px + mark_px + (y_.title.empty() ? 4 : line_px);
    double right = 12;
    if (y2_) {
        fit_upright(*y2_, plot_.height);
        right = y2_->labels_px + mark_px + (y2_->title.empty() ? 4 : line_px);
    }
    fit_level(x_, plot_.width - left - right);
    // Labels stand across their ticks, or end at them when turned: the outer ones need room.
    for (const Tick& tick : x_.ticks) {
        const double width = width_of(tick.label, tick_px);
        const double along = tick.at * (plot_.width - left - right);
        if (x_.turned_deg != 0) {
            left =
                std::max(left, width * std::cos(turned_deg * std::numbers::pi / 180) - along + 4);
        } else {
            left = std::max(left, width / 2 - along);
            right = std::max(right, width / 2 - (plot_.width - left - right - along) + 4);
        }
    }
    plot_.x += left;
    plot_.width = std::max(30.0, plot_.width - left - right);
    if (x2_) {
        fit_level(*x2_, plot_.width);
        const double above = x2_->labels_px + mark_px + (x2_->title.empty() ? 0 : line_px);
        plot_.y += above;
        plot_.height -= above;
    }
    plot_.height -= x_.labels_px + mark_px + (x_.title.empty() ? 0 : line_px);
    plot_.height = std::max(30.0, plot_.height);
    // The final height is smaller than the one that the first labels were chosen for.
    fit_upright(y_, plot_.height);
    if (y2_) fit_upright(*y2_, plot_.height);
}

void SvgPanel::make_square() {
    const double side = std::max(30.0, std::min(plot_.width, plot_.height));
    plot_.x += (plot_.width - side) / 2;
    plot_.y += (plot_.height - side) / 2;
    plot_.width = plot_.height = side;
}

void SvgPanel::fit_upright(Edge& side, double height) {
    side.ticks = side.map.ticks(static_cast<std::size_t>(std::max(2.0, height / 45)));
    thin(side.ticks, steps_for(tick_px + 3, closest(side.ticks, height)));
    double widest = 0;
    for (Tick& tick : side.ticks) {
        std::replace(tick.label.begin(), tick.label.end(), '\n', ' ');
        tick.label = fitted_text(tick.label, place_.width * 0.3, tick_px);
        widest = std::max(widest, width_of(tick.label, tick_px));
    }
    side.labels_px = widest + 3;
    side.title = wrapped_title(side.map.title(), height, name_px);
}

void SvgPanel::fit_level(Edge& side, double width) {
    width = std::max(width, 30.0);
    side.ticks = side.map.ticks(static_cast<std::size_t>(std::max(2.0, width / 85)));
    for (Tick& tick : side.ticks) std::replace(tick.label.begin(), tick.label.end(), '\n', ' ');
    side.turned_deg = 0;
    side.labels_px = tick_px + 5;
    side.title = wrapped_title(side.map.title(), width, name_px);
    if (!labels_touch(side.ticks, width)) return;
    const bool named = !side.map.axis().categories.empty();
    if (!named) {
        for (std::size_t every = 2; labels_touch(side.ticks, width) && side.ticks.size() > 1;) {
            thin(side.ticks, every);
        }
        return;
    }
    thin(side.ticks, steps_for(tick_px + 3, closest(side.ticks, width)));
    side.turned_deg = -turned_deg;
    double widest = 0;
    for (Tick& tick : side.ticks) {
        tick.label = fitted_text(tick.label, turned_label_px, tick_px);
        widest = std::max(widest, width_of(tick.label, tick_px));
    }
    side.labels_px = widest * std::sin(turned_deg * std::numbers::pi / 180) + tick_px + 3;
}

Pixel SvgPanel::pixel(Side side, double x, double y) const {
    if (scene_.is_square) {
        return {plot_.x + (x + 1) / 2 * plot_.width, plot_.y + (1 - y) / 2 * plot_.height};
    }
    return {plot_.x + x_of(side).map.at(x) * plot_.width,
            plot_.bottom() - y_of(side).map.at(y) * plot_.height};
}

void SvgPanel::draw_axes() {
    for (const Tick& tick : y_.ticks) {
        const double y = plot_.bottom() - tick.at * plot_.height;
        canvas_.frame_line({plot_.x, y}, {plot_.right(), y}, "grid");
    }
    for (const Tick& tick : x_.ticks) {
        const double x = plot_.x + tick.at * plot_.width;
        if (panel_.x.categories.empty())
            canvas_.frame_line({x, plot_.y}, {x, plot_.bottom()}, "grid");
    }
    canvas_.frame_line({plot_.x, plot_.bottom()}, {plot_.right(), plot_.bottom()}, "axis");
    canvas_.frame_line({plot_.x, plot_.y}, {plot_.x, plot_.bottom()}, "axis");
    draw_upright(y_, plot_.x, Towards::low);
    draw_level(x_, plot_.bottom(), Towards::low);
    if (y2_) {
        canvas_.frame_line({plot_.right(), plot_.y}, {plot_.right(), plot_.bottom()}, "axis");
        draw_upright(*y2_, plot_.right(), Towards::high);
    }
    if (x2_) draw_level(*x2_, plot_.y, Towards::high);
}

void SvgPanel::draw_upright(const Edge& side, double x, Towards towards) {
    const bool on_the_right = towards == Towards::high;
    const double outward = on_the_right ? 1 : -1;
    TextLook look;
    look.size_px = tick_px;
    look.tone = Tone::muted;
    look.anchor = on_the_right ? Anchor::start : Anchor::end;
    for (const Tick& tick : side.ticks) {
        const double y = plot_.bottom() - tick.at * plot_.height;
        canvas_.frame_line({x, y}, {x + outward * mark_px, y}, "axis");
        canvas_.text({x + outward * (mark_px + 3), y + tick_px * 0.36}, tick.label, look);
    }
    if (side.title.empty()) return;
    TextLook name;
    name.size_px = name_px;
    name.anchor = Anchor::middle;
    name.turned_deg = -90;
    const double away = mark_px + side.labels_px + (on_the_right ? 12 : 6);
    canvas_.text({x + outward * away, plot_.y + plot_.height / 2}, side.title, name);
}

void SvgPanel::draw_level(const Edge& side, double y, Towards towards) {
    const bool above = towards == Towards::high;
    const double outward = above ? -1 : 1;
    TextLook look;
    look.size_px = tick_px;
    look.tone = Tone::muted;
    look.anchor = side.turned_deg != 0 ? Anchor::end : Anchor::middle;
    look.turned_deg = above ? 0 : side.turned_deg;
    if (above) look.anchor = Anchor::middle;
    for (const Tick& tick : side.ticks) {
        const double x = plot_.x + tick.at * plot_.width;
        canvas_.frame_line({x, y}, {x, y + outward * mark_px}, "axis");
        const double label_y = above ? y - mark_px - 4 : y + mark_px + tick_px;
        canvas_.text({look.turned_deg != 0 ? x + 3 : x, label_y}, tick.label, look);
    }
    if (side.title.empty()) return;
    TextLook name;
    name.size_px = name_px;
    name.anchor = Anchor::middle;
    const double away = mark_px + side.labels_px + (above ? 4 : 12);
    canvas_.text({plot_.x + plot_.width / 2, y + outward * away}, side.title, name);
}

void SvgPanel::draw_colour_bar() {
    const ColorRamp ramp(panel_.color, (*scene_.value_range)[0], (*scene_.value_range)[1]);
    const Rect bar{plot_.right() + 14, plot_.y, bar_px, plot_.height};
    canvas_.gradient(bar, ramp.stops());
    Axis axis;
    axis.scale = ramp.logarithmic() ? Scale::log : Scale::linear;
    axis.lim = {ramp.low(), ramp.high()};
    const AxisMap map(axis, std::nullopt);
    TextLook look;
    look.size_px = tick_px;
    look.tone = Tone::muted;
    for (const Tick& tick : map.ticks(static_cast<std::size_t>(std::max(2.0, bar.height / 45)))) {
        const double y = bar.bottom() - tick.at * bar.height;
        canvas_.frame_line({bar.right(), y}, {bar.right() + 3, y}, "axis");
        canvas_.text({bar.right() + 6, y + tick_px * 0.36}, fitted_text(tick.label, 40, tick_px),
                     look);
    }
    if (!panel_.color || !panel_.color->label) return;
    TextLook name;
    name.size_px = name_px;
    name.anchor = Anchor::middle;
    name.turned_deg = -90;
    canvas_.text({bar.right() + 58, bar.y + bar.height / 2},
                 wrapped_title(*panel_.color->label, bar.height, name_px), name);
}

void SvgPanel::draw_sentence() {
    TextLook look;
    look.anchor = Anchor::middle;
    look.tone = Tone::muted;
    std::string words = "Nothing is drawn here.";
    if (!scene_.not_drawn.empty()) {
        words = "“" + scene_.not_drawn.front() + "” has no flat form: see its picture and data.";
    }
    canvas_.text({place_.x + place_.width / 2, place_.y + place_.height / 2},
                 fitted_text(words, place_.width - 8, look.size_px), look);
}

}  // namespace cellblock::charts
