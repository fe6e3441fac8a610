// How one axis of a panel becomes a position channel of Vega-Lite (internal to vega_lite.cc).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "charts/model.h"

namespace cellblock::charts {

class Position {
  public:
    // An axis of categories is nominal (names in bands) unless `numeric` asks for its numbers,
    // which marks with an outline of their own need.
    enum class Categories { bands, numeric };
    enum class Runs { right, up };
    Position(const Axis& axis, Categories categories, Runs runs);

    bool nominal() const { return nominal_; }
    bool logarithmic() const;
    const Axis& axis() const { return *axis_; }

    // A value as data: a category's name, milliseconds on the axis' clock, a number; null when it
    // is missing or cannot stand on this axis.
    Json value(double value) const;
    // The name of a category by index; null when there is none.
    Json category(double index) const;
    // How far beside its category a value stands, in pitches; 0 on other axes.
    double offset(double value) const;
    // Where a bar without a base of its own begins: 0, or the lower limit of a log axis.
    double ground(double base) const;

    // {"field": ..., "type": ..., "scale": ..., "title": ...}
    Json channel(const char* field) const;

  private:
    Json scale() const;
    std::optional<std::size_t> nearest(double value) const;

    const Axis* axis_;
    bool nominal_;
    Runs runs_;
    std::vector<std::string> names_;  // unique, also where the axis repeats a label
    double pitch_ = 1;
    double shift_ = 0;  // milliseconds from UTC to the clock that the axis shows
};

}  // namespace cellblock::charts
