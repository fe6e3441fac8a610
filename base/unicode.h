// Characters of text that may be anything: strict UTF-8, cuts at characters' borders, what does not
// show or reorders what shows, and the room that text takes in a terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cellblock {

struct CodePoint {
    char32_t value = 0xFFFD;
    std::size_t size_bytes = 1;  // how far to go on; 1 when invalid
    bool valid = false;
};

// The character at `position` (< text.size()): strict UTF-8, no surrogates, no overlong forms.
CodePoint code_point_at(std::string_view text, std::size_t position);
void append_utf8(std::string& text, char32_t value);
// As RFC 3629 has it: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_valid_utf8(std::string_view text);

// Control characters (C0, C1, DEL), and the characters that reorder or hide text: bidirectional
// controls, zero-width joiners' kin, byte order marks, line and paragraph separators.
bool is_control(char32_t value);
bool is_invisible(char32_t value);

// The longest prefix of whole characters within `max_bytes`.
std::string_view cut_utf8(std::string_view text, std::size_t max_bytes);
// The longest suffix of whole characters within `max_bytes`.
std::string_view cut_utf8_front(std::string_view text, std::size_t max_bytes);

// Columns that the text takes in a terminal: wide East Asian characters and emoji take two,
// combining marks none.
std::size_t display_width(std::string_view text);

}  // namespace cellblock
