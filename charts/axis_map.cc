// Values to places, and ticks (see axis_map.h).
#include "charts/axis_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "charts/text.h"

namespace cellblock::charts {

namespace {

constexpr double edge_tolerance = 1e-6;
constexpr double day_ms = 86'400'000;
constexpr std::size_t ticks_max = 200;

bool is_logarithmic(Scale scale) {
    return scale == Scale::log || scale == Scale::functionlog;
}

// How much of an ISO time a step needs.
struct TimeStep {
    double size_ms;
    std::size_t from, length;  // part of "2024-05-01T12:30:00"
};
constexpr TimeStep time_steps[] = {
    {1000, 11, 8},          {5000, 11, 8},           {15'000, 11, 8},    {60'000, 11, 5},
    {300'000, 11, 5},       {900'000, 11, 5},        {3'600'000, 5, 11}, {3 * 3'600'000, 5, 11},
    {6 * 3'600'000, 5, 11}, {12 * 3'600'000, 5, 11}, {day_ms, 0, 10},    {2 * day_ms, 0, 10},
    {7 * day_ms, 0, 10},    {14 * day_ms, 0, 10},
};

// Days from 1970 to the first of a month counted from year 0 (Howard Hinnant's algorithm).
double month_start_ms(std::int64_t month) {
    std::int64_t year = month / 12;
    const std::int64_t in_year = month % 12 + 1;
    year -= in_year <= 2 ? 1 : 0;
    const std::int64_t era = year / 400;
    const std::int64_t of_era = year - era * 400;
    const std::int64_t day = (153 * (in_year + (in_year > 2 ? -3 : 9)) + 2) / 5;
    const std::int64_t of_cycle = of_era * 365 + of_era / 4 - of_era / 100 + day;
    return static_cast<double>(era * 146'097 + of_cycle - 719'468) * day_ms;
}

std::string number_label(double value, double step) {
    if (std::abs(value) < step * 1e-9) return "0";
    if (std::abs(value) >= 1e6 || std::abs(value) < 1e-4) return format_number(value, 6);
    return format_number(value, 10);
}

}  // namespace

double round_step(double range, std::size_t count) {
    const double rough = range / static_cast<double>(std::max<std::size_t>(count, 1));
    if (!(rough > 0) || !std::isfinite(rough)) return 1;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= rough * (1 - 1e-9)) return factor * power;
    }
    return 10 * power;
}

std::string with_superscripts(const std::string& label) {
    static constexpr std::pair<char, std::string_view> raised[] = {
        {'0', "⁰"}, {'1', "¹"}, {'2', "²"}, {'3', "³"}, {'4', "⁴"}, {'5', "⁵"},
        {'6', "⁶"}, {'7', "⁷"}, {'8', "⁸"}, {'9', "⁹"}, {'-', "⁻"}, {'+', "⁺"}};
    const std::size_t caret = label.find('^');
    if (caret == std::string::npos || caret + 1 == label.size()) return label;
    std::string result = label.substr(0, caret);
    for (const char c : label.substr(caret + 1)) {
        if (c == '{' || c == '}') continue;
        const auto* found = std::find_if(std::begin(raised), std::end(raised),
                                         [c](const auto& pair) { return pair.first == c; });
        if (found == std::end(raised)) return label;
        result += found->second;
    }
    return result;
}

AxisMap::AxisMap(const Axis& axis, const std::optional<std::array<double, 2>>& extent)
    : axis_(&axis), logarithmic_(is_logarithmic(axis.scale)) {
    const auto& limits = axis.lim ? axis.lim : extent;
    if (limits) {
        low_ = std::min((*limits)[0], (*limits)[1]);
        high_ = std::max((*limits)[0], (*limits)[1]);
    }
    // Points at the very edge would be cut in half; bars stand on zero without a gap.
    if (!axis.lim && !logarithmic_ && high_ > low_) {
        const double room = (high_ - low_) * 0.04;
        if (low_ != 0) low_ -= room;
        if (high_ != 0) high_ += room;
    }
    if (logarithmic_ && !(high_ > 0)) logarithmic_ = false;
    if (logarithmic_ && !(low_ > 0)) low_ = high_ / 1000;
    if (!(low_ < high_)) {
        const double room = low_ == 0 ? 1 : std::abs(low_) * 0.1;
        if (!logarithmic_) low_ -= room;
        high_ += room;
    }
    scaled_low_ = scaled(low_);
    scaled_high_ = scaled(high_);
    if (!std::isfinite(scaled_low_) || !std::isfinite(scaled_high_) ||
        !(scaled_low_ < scaled_high_)) {
        scaled_low_ = 0;
        scaled_high_ = 1;
    }
}

double AxisMap::scaled(double value) const {
    const double knee = axis_->linthresh && *axis_->linthresh > 0 ? *axis_->linthresh : 1;
    switch (axis_->scale) {
        case Scale::log:
        case Scale::functionlog:
            if (!logarithmic_) return value;
            return value > 0 ? std::log10(value) : std::nan("");
        case Scale::symlog:
            return std::copysign(std::log10(1 + std::abs(value) / knee), value);
        case Scale::asinh:
            return std::asinh(value / knee);
        case Scale::logit: {
            const double inside = std::clamp(value, 1e-9, 1 - 1e-9);
            return std::log10(inside / (1 - inside));
        }
        default:
            return value;
    }
}

double AxisMap::at(double value) const {
    const double part = (scaled(value) - scaled_low_) / (scaled_high_ - scaled_low_);
    return axis_->inverted ? 1 - part : part;
}

void AxisMap::add_tick(std::vector<Tick>& ticks, double value, std::string label) const {
    const double place = at(value);
    if (!(place >= -edge_tolerance && place <= 1 + edge_tolerance)) return;
    if (ticks.size() < ticks_max) {
        ticks.push_back({std::clamp(place, 0.0, 1.0), value, std::move(label)});
    }
}

std::vector<Tick> AxisMap::ticks(std::size_t count) const {
    std::vector<Tick> result;
    if (!axis_->ticks.empty()) {
        for (std::size_t i = 0; i < axis_->ticks.size(); ++i) {
            const std::string label =
                i < axis_->tick_labels.size() ? axis_->tick_labels[i] : std::string();
            add_tick(result, axis_->ticks[i], with_superscripts(label));
        }
    } else if (!axis_->categories.empty()) {
        for (std::size_t i = 0; i < axis_->categories.size(); ++i) {
            add_tick(result, axis_->positions[i], axis_->categories[i]);
        }
    } else if (axis_->scale == Scale::datetime) {
        result = time_ticks(count);
    } else if (logarithmic_) {
        result = decade_ticks(count);
    } else {
        result = round_ticks(count);
    }
    std::sort(result.begin(), result.end(),
              [](const Tick& a, const Tick& b) { return a.at < b.at; });
    return result;
}

std::vector<Tick> AxisMap::round_ticks(std::size_t count) const {
    std::vector<Tick> result;
    const double step = round_step(high_ - low_, count);
    const double first = std::ceil(low_ / step - 1e-9);
    for (std::size_t i = 0; i < ticks_max; ++i) {
        const double value = (first + static_cast<double>(i)) * step;
        if (!(value <= high_ + step * 1e-9)) break;
        add_tick(result, value, number_label(value, step));
    }
    return result;
}

std::vector<Tick> AxisMap::decade_ticks(std::size_t count) const {
    const double first = std::ceil(std::log10(low_) - 1e-9);
    const double last = std::floor(std::log10(high_) + 1e-9);
    if (last - first < 1) return round_ticks(count);
    const double wanted = static_cast<double>(std::max<std::size_t>(count, 1));
    const double step = std::max(1.0, std::ceil((last - first) / wanted));
    std::vector<Tick> result;
    for (double power = first; power <= last && result.size() < ticks_max; power += step) {
        const double value = std::pow(10, power);
        add_tick(result, value,
                 power >= 0 && power < 5 ? format_number(value, 6)
                                         : with_superscripts("10^" + format_number(power, 6)));
    }
    return result;
}

std::vector<Tick> AxisMap::time_ticks(std::size_t count) const {
    const double shift = axis_->tz_offset_min.value_or(0) * 60'000.0;
    const double low = low_ + shift, high = high_ + shift;  // on the axis' clock
    const double wanted = (high - low) / static_cast<double>(std::max<std::size_t>(count, 1));
    // Beyond the calendar there are only numbers.
    if (!(low > -62e12 && high < 253e12)) return round_ticks(count);
    std::vector<Tick> result;
    for (const TimeStep& step : time_steps) {
        if (step.size_ms < wanted) continue;
        for (double at = std::ceil(low / step.size_ms) * step.size_ms;
             at <= high && result.size() < ticks_max; at += step.size_ms) {
            std::string label = iso_time(at, TimeStyle::plain);
            if (label.size() < step.from + step.length) continue;
            label = label.substr(step.from, step.length);
            std::replace(label.begin(), label.end(), 'T', ' ');
            add_tick(result, at - shift, std::move(label));
        }
        return result;
    }
    const double months = wanted / (30.4 * day_ms);
    std::int64_t step = static_cast<std::int64_t>(12 * round_step(months / 12, 1));
    for (const std::int64_t short_step : {1, 2, 3, 6}) {
        if (months <= static_cast<double>(short_step) && short_step < step) {
            step = short_step;
            break;
        }
    }
    step = std::max<std::int64_t>(step, 1);
    const auto since = static_cast<std::int64_t>(1970 * 12 + low / (30.436875 * day_ms)) - 2;
    for (std::int64_t month = std::max<std::int64_t>(since / step * step, 12);
         result.size() < ticks_max; month += step) {
        const double at = month_start_ms(month);
        if (at > high) break;
        const std::string label = iso_time(at, TimeStyle::date);
        if (label.empty()) break;
        add_tick(result, at - shift, label.substr(0, step % 12 == 0 ? 4 : 7));
    }
    return result;
}

std::string AxisMap::title() const {
    std::string text = axis_->label.value_or("");
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (axis_->offset.empty()) return text;
    return text + (text.empty() ? "× " : ", × ") + axis_->offset;
}

}  // namespace cellblock::charts
