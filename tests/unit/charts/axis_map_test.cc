// Places and ticks of axes.
#include "charts/axis_map.h"

#include <doctest/doctest.h>

namespace cellblock::charts {

namespace {

Axis axis_of(Scale scale, double low, double high) {
    Axis axis;
    axis.scale = scale;
    axis.lim = {low, high};
    return axis;
}

std::vector<std::string> labels_of(const Axis& axis, std::size_t count) {
    std::vector<std::string> labels;
    for (const Tick& tick : AxisMap(axis, std::nullopt).ticks(count)) labels.push_back(tick.label);
    return labels;
}

}  // namespace

TEST_CASE("values stand where their scale puts them") {
    const Axis linear = axis_of(Scale::linear, 10, 20);
    CHECK(AxisMap(linear, std::nullopt).at(15) == doctest::Approx(0.5));
    const Axis log = axis_of(Scale::log, 1, 100);
    CHECK(AxisMap(log, std::nullopt).at(10) == doctest::Approx(0.5));
    CHECK(std::isnan(AxisMap(log, std::nullopt).at(0)));
    Axis symlog = axis_of(Scale::symlog, -100, 100);
    symlog.linthresh = 1;
    CHECK(AxisMap(symlog, std::nullopt).at(0) == doctest::Approx(0.5));
    CHECK(AxisMap(symlog, std::nullopt).at(10) > 0.7);
    Axis turned = axis_of(Scale::linear, 0, 4);
    turned.inverted = true;
    CHECK(AxisMap(turned, std::nullopt).at(1) == doctest::Approx(0.75));
}

TEST_CASE("an axis without limits takes those of its data") {
    const Axis axis;
    const AxisMap map(axis, std::array<double, 2>{2, 6});
    CHECK(map.at(4) == doctest::Approx(0.5));
    const AxisMap flat(axis, std::array<double, 2>{3, 3});
    CHECK(flat.at(3) == doctest::Approx(0.5));
}

TEST_CASE("round values, decades and calendar days are chosen as ticks") {
    CHECK(labels_of(axis_of(Scale::linear, 0, 10), 5) ==
          std::vector<std::string>{"0", "2", "4", "6", "8", "10"});
    CHECK(labels_of(axis_of(Scale::log, 1, 1e6), 6) ==
          std::vector<std::string>{"1", "10", "100", "1000", "10000", "10⁵", "10⁶"});
    // 2024-01-30 to 2024-02-02
    CHECK(labels_of(axis_of(Scale::datetime, 1706572800000, 1706832000000), 4) ==
          std::vector<std::string>{"2024-01-30", "2024-01-31", "2024-02-01", "2024-02-02"});
    // 2023-11-20 to 2024-03-10
    CHECK(labels_of(axis_of(Scale::datetime, 1700438400000, 1710028800000), 4) ==
          std::vector<std::string>{"2023-12", "2024-01", "2024-02", "2024-03"});
    // 2000 to 2024
    CHECK(labels_of(axis_of(Scale::datetime, 946684800000, 1704067200000), 5) ==
          std::vector<std::string>{"2000", "2005", "2010", "2015", "2020"});
    // Beyond the calendar: numbers, and an end.
    CHECK(labels_of(axis_of(Scale::datetime, 1e299, 1e300), 5).size() >= 3);
}

TEST_CASE("the guest's own ticks stay, inside of the limits only") {
    Axis axis = axis_of(Scale::log, 1, 150);
    axis.ticks = {0.1, 1, 10, 100, 1000};
    axis.tick_labels = {"10^-1", "10^0", "10^1", "10^2", "10^3"};
    CHECK(labels_of(axis, 3) == std::vector<std::string>{"10⁰", "10¹", "10²"});
    CHECK(with_superscripts("x^y") == "x^y");
}

}  // namespace cellblock::charts
