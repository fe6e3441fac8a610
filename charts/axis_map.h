// One axis as a drawing needs it: values to places between 0 and 1, and the ticks with their
// labels, the guest's own or, where it sent none, our choice of round values.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "charts/model.h"

namespace cellblock::charts {

struct Tick {
    double at = 0;     // 0 to 1
    double value = 0;  // in the axis' values
    std::string label;
};

class AxisMap {
  public:
    // `extent` of the data serves where the axis has no limits of its own. The axis must outlive
    // the map.
    AxisMap(const Axis& axis, const std::optional<std::array<double, 2>>& extent);

    // Where a value stands: 0 is the left or lower end, 1 the other; beyond them for values outside
    // of the limits. NaN for what cannot stand on the axis (zero on a logarithmic one).
    double at(double value) const;
    // The lower end, for bars on a logarithmic axis, whose base is nowhere.
    double floor_value() const { return logarithmic_ ? low_ : 0; }
    bool logarithmic() const { return logarithmic_; }
    double low() const { return low_; }
    double high() const { return high_; }
    const Axis& axis() const { return *axis_; }

    // At most `count` where we choose; the guest's own as they are. Ascending by place.
    std::vector<Tick> ticks(std::size_t count) const;
    // Its name with what belongs to it: "Income (EUR), × 1e6". May be empty.
    std::string title() const;

  private:
    double scaled(double value) const;
    void add_tick(std::vector<Tick>& ticks, double value, std::string label) const;
    std::vector<Tick> round_ticks(std::size_t count) const;
    std::vector<Tick> decade_ticks(std::size_t count) const;
    std::vector<Tick> time_ticks(std::size_t count) const;

    const Axis* axis_;
    bool logarithmic_ = false;
    double low_ = 0, high_ = 1;  // values
    double scaled_low_ = 0, scaled_high_ = 1;
};

// The step of about `count` round values (1, 2, 5 times a power of ten) over a range.
double round_step(double range, std::size_t count);
// "10^-3" as "10⁻³"; other text stays.
std::string with_superscripts(const std::string& label);

}  // namespace cellblock::charts
