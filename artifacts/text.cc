#include "artifacts/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

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

// "\x1b[3A", "\x1b[A", "\x1b[2B": how many lines the cursor moves down (up: below zero).
std::ptrdiff_t lines_down(std::string_view escape) {
    if (escape.size() < 3 || escape[1] != '[') return 0;
    const char final_byte = escape.back();
    if (final_byte != 'A' && final_byte != 'B') return 0;
    std::ptrdiff_t count = 0;
    for (const char c : escape.substr(2, escape.size() - 3)) {
        if (c < '0' || c > '9' || count > 1000) return 0;
        count = count * 10 + (c - '0');
    }
    count = std::max<std::ptrdiff_t>(count, 1);
    return final_byte == 'A' ? -count : count;
}

// The lines that a terminal would show: \r begins a line anew, and several progress bars move the
// cursor between their lines.
class Screen {
  public:
    void write(std::string_view text) {
        std::size_t at = 0;
        while (at < text.size()) {
            const std::size_t end = std::min(text.find_first_of("\n\r\x1b", at), text.size());
            if (end > at) put(text.substr(at, end - at));
            if (end == text.size()) return;
            at = end + 1;
            if (text[end] == '\n') {
                down(1);
            } else if (text[end] == '\r') {
                begun_anew_ = true;
            } else {
                const std::size_t size = escape_size(text, end);
                down(lines_down(text.substr(end, size)));
                at = end + size;
            }
        }
    }

    std::string text() const {
        std::string all;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (i > 0) all += '\n';
            all += lines_[i];
        }
        return all;
    }

  private:
    void put(std::string_view part) {
        if (begun_anew_) lines_[row_].clear();
        begun_anew_ = false;
        lines_[row_] += part;
    }
    // A line that was moved back to is written over, as bars are.
    void down(std::ptrdiff_t count) {
        // Only line feeds make lines: a cursor may not be sent a million of them down.
        const std::size_t last = count == 1 ? lines_.size() : lines_.size() - 1;
        const auto wanted = static_cast<std::ptrdiff_t>(row_) + count;
        const auto row = static_cast<std::size_t>(std::max<std::ptrdiff_t>(wanted, 0));
        if (std::min(row, last) == row_) return;
        row_ = std::min(row, last);
        begun_anew_ = row_ < lines_.size();
        if (row_ == lines_.size()) lines_.emplace_back();
    }

    std::vector<std::string> lines_ = {""};
    std::size_t row_ = 0;
    bool begun_anew_ = false;
};

}  // namespace

std::string settled_text(std::string_view text) {
    Screen screen;
    screen.write(text);
    return clean_lines(screen.text());
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
