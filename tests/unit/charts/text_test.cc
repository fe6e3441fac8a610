// Times as Python writes them, numbers, cleaning.
#include "charts/text.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

namespace cellblock::charts {

TEST_CASE("times are written as Python's isoformat writes them") {
    CHECK(iso_time(0, TimeStyle::plain) == "1970-01-01T00:00:00");
    CHECK(iso_time(0, TimeStyle::date) == "1970-01-01");
    CHECK(iso_time(1704110400000.0, TimeStyle::with_offset) == "2024-01-01T12:00:00+00:00");
    CHECK(iso_time(1704110400000.0, TimeStyle::with_offset, 330) == "2024-01-01T17:30:00+05:30");
    CHECK(iso_time(1704110400000.0, TimeStyle::with_offset, -60) == "2024-01-01T11:00:00-01:00");
    CHECK(iso_time(1704110400000.25, TimeStyle::plain) == "2024-01-01T12:00:00.000250");
    CHECK(iso_time(-1000, TimeStyle::plain) == "1969-12-31T23:59:59");
    CHECK(iso_time(951782400000.0, TimeStyle::date) == "2000-02-29");
    CHECK(iso_time(1e300, TimeStyle::plain).empty());
    CHECK(iso_time(std::nan(""), TimeStyle::plain).empty());
}

TEST_CASE("numbers for people") {
    CHECK(format_number(1.0) == "1");
    CHECK(format_number(20.25) == "20.25");
    CHECK(format_number(-0.0) == "0");
    CHECK(format_number(1234567.0, 3) == "1.23e+06");
    CHECK(format_number(std::numeric_limits<double>::infinity()) == "infinity");
    CHECK(exact_number(0.1) == "0.1");
}

TEST_CASE("colours and words are checked letter by letter") {
    CHECK(clean_color("#1f77b4") == "#1f77b4");
    CHECK(clean_color("#1f77b480") == "#1f77b480");
    CHECK(clean_color("#1f77bg").empty());
    CHECK(clean_color("red").empty());
    CHECK(clean_word("steps-post") == "steps-post");
    CHECK(clean_word("<script>alert(1)").empty());
    CHECK(clean_text("a\tb\x7f") == "a\tb ");
}

TEST_CASE("a value of an axis in words") {
    Axis axis;
    CHECK(axis_value_text(axis, 2.5) == "2.5");
    axis.scale = Scale::datetime;
    CHECK(axis_value_text(axis, 1704067200000.0) == "2024-01-01");
    CHECK(axis_value_text(axis, 1704110400000.0) == "2024-01-01T12:00:00");
    axis.scale = Scale::categorical;
    axis.categories = {"a", "b"};
    axis.positions = {0, 1};
    CHECK(axis_value_text(axis, 1) == "b");
}

}  // namespace cellblock::charts
