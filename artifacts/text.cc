#include "artifacts/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellblock::artifacts {
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

std::string one_line(std::string_view text, std::size_t max_bytes) {
    constexpr std::string_view ellipsis = "…";
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point_at(text, at);
        at += c.size_bytes;
        if (is_invisible(c.value)) continue;
        if (is_control(c.value)) {
            if (line.empty() || line.back() != ' ') line += ' ';
        } else {
            append_utf8(line, c.value);
        }
        if (line.size() > max_bytes) {
            const std::size_t room = max_bytes - std::min(max_bytes, ellipsis.size());
            return std::string(cut_utf8(line, room)) + std::string(ellipsis);
        }
    }
    return line;
}

std::string clean_lines(std::string_view text) {
    std::string lines;
    lines.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point_at(text, at);
        at += c.size_bytes;
        if (is_invisible(c.value)) continue;
        if (c.value == '\n' || c.value == '\t' || !is_control(c.value)) append_utf8(lines, c.value);
    }
    return lines;
}

namespace {

// How far an escape sequence goes that begins at `at` (an ESC).
std::size_t escape_size(std::string_view text, std::size_t at) {
    if (at + 1 >= text.size()) return 1;
    std::size_t end = at + 2;
    if (text[at + 1] == '[') {  // CSI: up to a letter or another final byte
        while (end < text.size() && (byte_at(text, end) < 0x40 || byte_at(text, end) > 0x7E)) ++end;
        return std::min(end + 1, text.size()) - at;
    }
    if (text[at + 1] == ']') {  // OSC: up to BEL or the string terminator
        while (end < text.size() && text[end] != '\a' && text[end] != '\x1b') ++end;
        if (end < text.size() && text[end] == '\x1b') ++end;
        return std::min(end + 1, text.size()) - at;
    }
    return 2;
}

std::string without_escapes(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\x1b') {
            at += escape_size(text, at);
        } else {
            plain += text[at++];
        }
    }
    return plain;
}

}  // namespace

std::string settled_text(std::string_view text) {
    const std::string plain = without_escapes(text);
    std::string settled;
    settled.reserve(plain.size());
    for (std::size_t at = 0; at < plain.size();) {
        std::size_t end = plain.find('\n', at);
        const bool ended = end != std::string::npos;
        if (!ended) end = plain.size();
        std::string_view line = std::string_view(plain).substr(at, end - at);
        while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        const std::size_t over = line.rfind('\r');
        if (over != std::string_view::npos) line.remove_prefix(over + 1);
        settled += line;
        if (ended) settled += '\n';
        at = end + 1;
    }
    return clean_lines(settled);
}

std::string head_and_tail(std::string_view text, std::size_t max_bytes, std::uint64_t total_bytes) {
    if (text.size() <= max_bytes && total_bytes <= text.size()) return std::string(text);
    constexpr std::size_t notice_max_bytes = 80;
    const std::size_t room = max_bytes > notice_max_bytes ? max_bytes - notice_max_bytes : 0;
    std::string_view head = cut_utf8(text, std::min(room * 3 / 5, text.size()));
    std::string_view tail = cut_utf8_front(text, room - std::min(room, head.size()));
    if (head.size() + tail.size() > text.size()) tail = text.substr(head.size());
    // A line end within the last fifth of the head, or the first fifth of the tail, is worth it.
    const std::size_t last = head.rfind('\n');
    if (last != std::string_view::npos && last + 1 >= head.size() - head.size() / 5) {
        head = head.substr(0, last + 1);
    }
    const std::size_t first = tail.find('\n');
    if (first != std::string_view::npos && first < tail.size() / 5) tail.remove_prefix(first + 1);
    const std::uint64_t whole = std::max<std::uint64_t>(total_bytes, text.size());
    std::string result(head);
    if (!result.empty() && result.back() != '\n') result += '\n';
    result += "[… " + with_thousands(whole - head.size() - tail.size()) + " of " +
              with_thousands(whole) + " bytes left out …]\n";
    return result + std::string(tail);
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

std::string with_thousands(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string readable_size(std::uint64_t bytes) {
    if (bytes == 1) return "1 byte";
    if (bytes < 1024) return std::to_string(bytes) + " bytes";
    static constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1023.95 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace cellblock::artifacts
