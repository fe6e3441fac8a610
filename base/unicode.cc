// Unicode as the interfaces of terminals, browsers and files need it (see unicode.h).
#include "base/unicode.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace cellblock {
namespace {

struct Range {
    char32_t first;
    char32_t last;
};

bool in_any(char32_t value, const Range* begin, const Range* end) {
    return std::any_of(begin, end, [value](const Range& range) {
        return value >= range.first && value <= range.last;
    });
}

// The blocks of Unicode's East Asian Width W and F, and the emoji shown wide.
constexpr std::array wide_ranges = {
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x2E80, 0x303E},
    Range{0x3041, 0x33FF},   Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},
    Range{0xA000, 0xA4CF},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x1F1E6, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1FAFF},
    Range{0x20000, 0x3FFFD},
};
constexpr std::array combining_ranges = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD},
    Range{0x064B, 0x065F}, Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},
    Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
};

unsigned char byte_at(std::string_view text, std::size_t position) {
    return static_cast<unsigned char>(text[position]);
}

bool is_continuation(unsigned char byte) {
    return (byte & 0xC0) == 0x80;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t position) {
    const unsigned char lead = byte_at(text, position);
    CodePoint result;
    if (lead < 0x80) {
        result.value = lead;
        result.valid = true;
        return result;
    }
    std::size_t size = 0;
    char32_t value = 0;
    char32_t smallest = 0;
    if ((lead & 0xE0) == 0xC0) {
        size = 2, value = lead & 0x1F, smallest = 0x80;
    } else if ((lead & 0xF0) == 0xE0) {
        size = 3, value = lead & 0x0F, smallest = 0x800;
    } else if ((lead & 0xF8) == 0xF0) {
        size = 4, value = lead & 0x07, smallest = 0x10000;
    } else {
        return result;
    }
    if (position + size > text.size()) return result;
    for (std::size_t i = 1; i < size; ++i) {
        const unsigned char next = byte_at(text, position + i);
        if (!is_continuation(next)) return result;
        value = (value << 6) | (next & 0x3F);
    }
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < smallest || value > 0x10FFFF || surrogate) return result;
    result.value = value;
    result.size_bytes = size;
    result.valid = true;
    return result;
}

void append_utf8(std::string& text, char32_t value) {
    if (value < 0x80) {
        text += static_cast<char>(value);
    } else if (value < 0x800) {
        text += static_cast<char>(0xC0 | (value >> 6));
        text += static_cast<char>(0x80 | (value & 0x3F));
    } else if (value < 0x10000) {
        text += static_cast<char>(0xE0 | (value >> 12));
        text += static_cast<char>(0x80 | ((value >> 6) & 0x3F));
        text += static_cast<char>(0x80 | (value & 0x3F));
    } else {
        text += static_cast<char>(0xF0 | (value >> 18));
        text += static_cast<char>(0x80 | ((value >> 12) & 0x3F));
        text += static_cast<char>(0x80 | ((value >> 6) & 0x3F));
        text += static_cast<char>(0x80 | (value & 0x3F));
    }
}

bool is_valid_utf8(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        // Most text is ASCII: eight characters at once.
        std::uint64_t eight = 0;
        if (text.size() - i >= sizeof eight) {
            std::memcpy(&eight, text.data() + i, sizeof eight);
            if ((eight & 0x8080808080808080U) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        const CodePoint next = code_point_at(text, i);
        if (!next.valid) return false;
        i += next.size_bytes;
    }
    return true;
}

bool is_control(char32_t value) {
    return value < 0x20 || (value >= 0x7F && value < 0xA0);
}

bool is_invisible(char32_t value) {
    return value == 0x00AD || value == 0x061C || (value >= 0x200B && value <= 0x200F) ||
           (value >= 0x2028 && value <= 0x202E) || (value >= 0x2060 && value <= 0x206F) ||
           value == 0xFEFF || (value >= 0xFFF9 && value <= 0xFFFB) ||
           (value >= 0xE0000 && value <= 0xE007F);
}

std::string_view cut_utf8(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) return text;
    std::size_t end = max_bytes;
    while (end > 0 && max_bytes - end < 4 && is_continuation(byte_at(text, end))) --end;
    return text.substr(0, end);
}

std::string_view cut_utf8_front(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) return text;
    std::size_t begin = text.size() - max_bytes;
    while (begin < text.size() && is_continuation(byte_at(text, begin))) ++begin;
    return text.substr(begin);
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point_at(text, at);
        at += c.size_bytes;
        if (is_invisible(c.value) || is_control(c.value)) continue;
        if (in_any(c.value, combining_ranges.begin(), combining_ranges.end())) continue;
        width += in_any(c.value, wide_ranges.begin(), wide_ranges.end()) ? 2 : 1;
    }
    return width;
}

}  // namespace cellblock
