// Text of guests made fit to show: UTF-8 checked, control and direction characters taken out, cut
// at character borders. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cellblock::artifacts {

struct CodePoint {
    char32_t value = 0xFFFD;
    std::size_t size_bytes = 1;  // how far to go on; 1 when invalid
    bool valid = false;
};

// The character at `position` (< text.size()): strict UTF-8, no surrogates, no overlong forms.
CodePoint code_point_at(std::string_view text, std::size_t position);
void append_utf8(std::string& text, char32_t value);

// Control characters (C0, C1, DEL), and the characters that reorder or hide text: bidirectional
// controls, zero-width joiners' kin, byte order marks, line and paragraph separators.
bool is_control(char32_t value);
bool is_invisible(char32_t value);

// The longest prefix of whole characters within `max_bytes`.
std::string_view cut_utf8(std::string_view text, std::size_t max_bytes);
// The longest suffix of whole characters within `max_bytes`.
std::string_view cut_utf8_front(std::string_view text, std::size_t max_bytes);

// One line: invalid bytes become U+FFFD, control characters a space, invisible ones go; cut to
// `max_bytes` with "…" at the end when something was cut.
std::string one_line(std::string_view text, std::size_t max_bytes);
// As one_line() but keeps \n and \t, and does not cut.
std::string clean_lines(std::string_view text);

// What a terminal would show in the end: escape sequences go, and of a line that was written over
// with \r (progress bars) its last state stays.
std::string settled_text(std::string_view text);

// The beginning and the end of a text within `max_bytes`, cut at line ends where these are near,
// and between them a line that says how many bytes of `total_bytes` are left out.
std::string head_and_tail(std::string_view text, std::size_t max_bytes, std::uint64_t total_bytes);

// Columns that the text takes in a terminal: wide East Asian characters and emoji take two,
// combining marks none.
std::size_t display_width(std::string_view text);

// "1234567" -> "1,234,567".
std::string with_thousands(std::uint64_t number);
// "17 bytes", "1.5 KiB", "3.0 MiB".
std::string readable_size(std::uint64_t bytes);

}  // namespace cellblock::artifacts
