#include "artifacts/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellblock::artifacts {

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
        while (end < text.size() && (text[end] < 0x40 || text[end] > 0x7E)) ++end;
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
