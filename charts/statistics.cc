// Statistics for descriptions (see statistics.h).
#include "charts/statistics.h"

#include <algorithm>
#include <cmath>

namespace cellblock::charts {

double value_at(const Column& column, std::size_t index, double fallback) {
    return index < column.size() && std::isfinite(column[index]) ? column[index] : fallback;
}

std::optional<Extremes> extremes(const Column& values) {
    Extremes result;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) continue;
        if (result.count == 0) result.first = result.lowest = result.highest = i;
        if (values[i] < values[result.lowest]) result.lowest = i;
        if (values[i] > values[result.highest]) result.highest = i;
        result.last = i;
        result.sum += values[i];
        ++result.count;
    }
    return result.count == 0 ? std::nullopt : std::optional(result);
}

double median(Column values) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty()) return std::nan("");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    const double upper = *middle;
    return (*std::max_element(values.begin(), middle) + upper) / 2;
}

std::optional<double> correlation(const Column& x, const Column& y) {
    double mean_x = 0, mean_y = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
        ++count;
        mean_x += (x[i] - mean_x) / static_cast<double>(count);
        mean_y += (y[i] - mean_y) / static_cast<double>(count);
    }
    if (count < 3) return std::nullopt;
    double xx = 0, yy = 0, xy = 0;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    const double r = xy / std::sqrt(xx * yy);
    return std::isfinite(r) ? std::optional(std::clamp(r, -1.0, 1.0)) : std::nullopt;
}

Trend trend(const Column& y) {
    Column kept;
    const std::size_t stride = std::max<std::size_t>(1, y.size() / 400);
    for (std::size_t i = 0; i < y.size(); i += stride) {
        if (std::isfinite(y[i])) kept.push_back(y[i]);
    }
    const auto n = static_cast<double>(kept.size());
    if (kept.size() < 5) return Trend::none;
    double sign = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        for (std::size_t j = i + 1; j < kept.size(); ++j) {
            sign += kept[j] > kept[i] ? 1 : kept[j] < kept[i] ? -1 : 0;
        }
    }
    const double z = sign / std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
    Column index(kept.size());
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<double>(i);
    const double r = correlation(index, kept).value_or(0);
    // Five points in perfect order reach only z = 2.2: a straight line then has to do.
    if (r * r <= 0.8 ||
        std::abs(z) <= std::min(2.6, 0.99 * std::sqrt(4.5 * n * (n - 1) / (2 * n + 5)))) {
        return Trend::none;
    }
    return sign > 0 ? Trend::rises : Trend::falls;
}

}  // namespace cellblock::charts
