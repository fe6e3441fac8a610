// Small statistics over columns; missing values (NaN) and infinities are left out.
#pragma once

#include <cstddef>
#include <optional>

#include "charts/layer_data.h"

namespace cellblock::charts {

struct Extremes {
    std::size_t count = 0;                                     // finite values
    std::size_t first = 0, last = 0, lowest = 0, highest = 0;  // their indices
    double sum = 0;
};

// Nothing when no value is finite.
std::optional<Extremes> extremes(const Column& values);
double median(Column values);

// The column's value there, where it has a finite one.
double value_at(const Column& column, std::size_t index, double fallback);

// Pearson's correlation of the pairs that are complete; nothing below 3 or without spread.
std::optional<double> correlation(const Column& x, const Column& y);

enum class Trend { none, rises, falls };
// Rises or falls only when it does so clearly: Mann-Kendall |z| > 2.6 and R2 > 0.8 of a straight
// line. Long columns are thinned, since the test compares all pairs.
Trend trend(const Column& y);

}  // namespace cellblock::charts
