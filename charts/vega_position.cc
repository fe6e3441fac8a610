// Axes as position channels (see vega_position.h).
#include "charts/vega_position.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace cellblock::charts {

namespace {

constexpr std::size_t bands_max = 500;

}  // namespace

Position::Position(const Axis& axis, Categories categories, Runs runs)
    : axis_(&axis),
      nominal_(categories == Categories::bands && axis.scale == Scale::categorical &&
               !axis.categories.empty() && axis.categories.size() <= bands_max),
      runs_(runs) {
    if (axis.scale == Scale::datetime) shift_ = axis.tz_offset_min.value_or(0) * 60'000.0;
    std::set<std::string> seen;
    for (const std::string& category : axis.categories) {
        std::string name = category;
        while (!seen.insert(name).second) name += "\u200b";  // looks the same, is another band
        names_.push_back(std::move(name));
    }
    if (axis.positions.size() > 1) {
        std::vector<double> sorted = axis.positions;
        std::sort(sorted.begin(), sorted.end());
        double smallest = INFINITY;
        for (std::size_t i = 1; i < sorted.size(); ++i)
            smallest = std::min(smallest, sorted[i] - sorted[i - 1]);
        if (std::isfinite(smallest) && smallest > 0) pitch_ = smallest;
    }
}

bool Position::logarithmic() const {
    return axis_->scale == Scale::log;
}

std::optional<std::size_t> Position::nearest(double value) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < axis_->positions.size(); ++i) {
        const double distance = std::abs(axis_->positions[i] - value);
        if (distance > pitch_ * 0.500001) continue;
        if (!best || distance < std::abs(axis_->positions[*best] - value)) best = i;
    }
    return best;
}

Json Position::value(double value) const {
    if (!std::isfinite(value)) return nullptr;
    if (nominal_) {
        const auto index = nearest(value);
        return index ? Json(names_[*index]) : Json();
    }
    if (logarithmic() && value <= 0) return nullptr;
    return value + shift_;
}

Json Position::category(double index) const {
    if (!(index >= 0) || index >= static_cast<double>(names_.size())) return nullptr;
    const auto place = static_cast<std::size_t>(index);
    return nominal_ ? Json(names_[place]) : value(axis_->positions[place]);
}

double Position::offset(double value) const {
    const auto index = nominal_ ? nearest(value) : std::nullopt;
    return index ? (value - axis_->positions[*index]) / pitch_ : 0;
}

double Position::ground(double base) const {
    if (!logarithmic() || base > 0) return base;
    return axis_->lim ? std::max((*axis_->lim)[0], 1e-300) : 1e-300;
}

Json Position::scale() const {
    Json scale = Json::object();
    if (nominal_) {
        std::vector<std::size_t> order(names_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
            const double first = axis_->positions[a], second = axis_->positions[b];
            return first < second || (first == second && a < b);
        });
        Json domain = Json::array();
        for (const std::size_t i : order) domain.push_back(names_[i]);
        scale["domain"] = std::move(domain);
        // Vega-Lite draws the first band of a vertical axis at the top, plots count from below.
        if ((runs_ == Runs::up) != axis_->inverted) scale["reverse"] = true;
        return scale;
    }
    switch (axis_->scale) {
        case Scale::datetime:
            scale["type"] = "utc";
            break;
        case Scale::log:
            scale["type"] = "log";
            if (axis_->base && *axis_->base > 1) scale["base"] = *axis_->base;
            break;
        case Scale::symlog:
            scale["type"] = "symlog";
            if (axis_->linthresh && *axis_->linthresh > 0) scale["constant"] = *axis_->linthresh;
            break;
        default:
            scale["type"] = "linear";
    }
    scale["nice"] = false;
    if (axis_->scale != Scale::datetime && axis_->scale != Scale::log) scale["zero"] = false;
    if (axis_->lim) {
        const double low = std::min((*axis_->lim)[0], (*axis_->lim)[1]);
        const double high = std::max((*axis_->lim)[0], (*axis_->lim)[1]);
        if (low < high && (axis_->scale != Scale::log || low > 0)) {
            scale["domain"] = {low + shift_, high + shift_};
        }
    }
    if (axis_->inverted) scale["reverse"] = true;
    return scale;
}

Json Position::channel(const char* field) const {
    Json channel{{"field", field},
                 {"type", nominal_                          ? "nominal"
                          : axis_->scale == Scale::datetime ? "temporal"
                                                            : "quantitative"},
                 {"scale", scale()},
                 {"title", axis_->label ? Json(*axis_->label) : Json()}};
    if (nominal_) {
        channel["sort"] = nullptr;
        channel["axis"] = {{"labelAngle", names_.size() > 6 ? -45 : 0}};
    }
    return channel;
}

}  // namespace cellblock::charts
