// Words and numbers of a chart as text. Strings of the guest pass through `clean_text` once, when
// the model is parsed; nothing behind that meets a control character or half a code point.
#pragma once

#include <string>
#include <string_view>

#include "charts/model.h"

namespace cellblock::charts {

// Control characters become spaces, ends at the limit (at a code point's border).
std::string clean_text(std::string_view text);
// "#rrggbb" or "#rrggbbaa", else empty.
std::string clean_color(std::string_view text);
// Letters, digits and a few signs, at most 32: a marker, a method, a version. Else empty.
std::string clean_word(std::string_view text);

// Up to so many significant digits, no trailing zeros: 12.5, 1.2e+09, 0.
std::string format_number(double value, int digits = 6);
// The shortest text that reads back as the same number.
std::string exact_number(double value);

enum class TimeStyle { date, plain, with_offset };
// Milliseconds since 1970 as ISO 8601, as Python's isoformat() writes it. with_offset appends
// "+00:00" or the given offset; the clock shown is then that of the offset.
std::string iso_time(double milliseconds, TimeStyle style, int offset_minutes = 0);
// How Python would write this axis' values: its zone, dates only where the user gave dates.
std::string axis_time(const Axis& axis, double milliseconds);

// A value of the axis for people: a category's name, a date, a number.
std::string axis_value_text(const Axis& axis, double value, int digits = 6);

}  // namespace cellblock::charts
