// Estimates of text widths (see text_size.h).
#include "charts/text_size.h"

#include "base/unicode.h"

namespace cellblock::charts {

namespace {

double width_of(std::string_view letter, const CodePoint& point) {
    if (point.value >= 0x80) {
        if (point.value >= 0x2070 && point.value < 0x209D) return 0.42;  // superscripts
        return static_cast<double>(display_width(letter)) *
               (display_width(letter) > 1 ? 0.55 : 0.68);
    }
    const char c = letter.front();
    if (std::string_view("iIjl.,:;'|!").find(c) != std::string_view::npos) return 0.3;
    if (std::string_view("ftr()[]{}-/\\ \"`*").find(c) != std::string_view::npos) return 0.38;
    if (std::string_view("mwMW@%").find(c) != std::string_view::npos) return 0.95;
    if (c >= 'A' && c <= 'Z') return 0.72;
    return 0.6;
}

}  // namespace

double text_width_em(std::string_view text) {
    double width = 0;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint point = code_point_at(text, at);
        width += width_of(text.substr(at, point.size_bytes), point);
        at += point.size_bytes;
    }
    return width;
}

std::string fitted_text(std::string_view text, double max_px, double font_px) {
    const double room = max_px / font_px;
    if (text_width_em(text) <= room) return std::string(text);
    constexpr double ellipsis_em = 1;
    double width = 0;
    std::size_t end = 0;
    while (end < text.size()) {
        const CodePoint point = code_point_at(text, end);
        width += width_of(text.substr(end, point.size_bytes), point);
        if (width > room - ellipsis_em) break;
        end += point.size_bytes;
    }
    return std::string(text.substr(0, end)) + "…";
}

}  // namespace cellblock::charts
