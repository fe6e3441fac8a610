// Text of guests made fit to show: UTF-8 checked, control and direction characters taken out, cut
// at character borders. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/unicode.h"

namespace cellblock::artifacts {

// One line: invalid bytes become U+FFFD, control characters a space, invisible ones go; cut to
// `max_bytes` with "…" at the end when something was cut.
std::string one_line(std::string_view text, std::size_t max_bytes);
// As one_line() but keeps \n and \t, and does not cut.
std::string clean_lines(std::string_view text);

// What a terminal would show in the end: escape sequences go, and of a line that was written over
// (progress bars: \r, and the cursor moved up between several of them) its last state stays.
std::string settled_text(std::string_view text);

// The beginning and the end of a text within `max_bytes`, cut at line ends where these are near,
// and between them a line that says how many bytes of `total_bytes` are left out.
std::string head_and_tail(std::string_view text, std::size_t max_bytes, std::uint64_t total_bytes);

// "1234567" -> "1,234,567".
std::string with_thousands(std::uint64_t number);
// "17 bytes", "1.5 KiB", "3.0 MiB".
std::string readable_size(std::uint64_t bytes);

}  // namespace cellblock::artifacts
