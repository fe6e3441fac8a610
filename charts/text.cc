// Cleaning and formatting (see text.h).
#include "charts/text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/limits.h"

namespace cellblock::charts {

std::string clean_text(std::string_view text) {
    std::size_t end = std::min(text.size(), limits::chart_string_max_bytes);
    if (end < text.size()) {  // back to the start of a code point
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    }
    std::string result(text.substr(0, end));
    for (char& letter : result) {
        const auto byte = static_cast<unsigned char>(letter);
        if ((byte < 0x20 && letter != '\n' && letter != '\t') || byte == 0x7F) letter = ' ';
    }
    return result;
}

std::string clean_color(std::string_view text) {
    if (text.size() != 7 && text.size() != 9) return {};
    if (text[0] != '#') return {};
    for (const char digit : text.substr(1)) {
        const bool hex = (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f') ||
                         (digit >= 'A' && digit <= 'F');
        if (!hex) return {};
    }
    return std::string(text);
}

std::string clean_word(std::string_view text) {
    if (text.empty() || text.size() > 32) return {};
    const bool plain = std::all_of(text.begin(), text.end(), [](char letter) {
        return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
               (letter >= 'A' && letter <= 'Z') ||
               std::string_view("-_.:+*/|\\^<> ,").find(letter) != std::string_view::npos;
    });
    return plain ? std::string(text) : std::string();
}

std::string format_number(double value, int digits) {
    if (std::isnan(value)) return "missing";
    if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value == 0 ? 0.0 : value);
    return buffer;
}

std::string exact_number(double value) {
    char buffer[64];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    return error == std::errc() ? std::string(buffer, end) : std::string("nan");
}

std::string iso_time(double milliseconds, TimeStyle style, int offset_minutes) {
    // Years 1 to 9999: what Python's datetime can hold, and what the calendar code below can too.
    if (!(milliseconds >= -62135596800000.0 && milliseconds < 253402300800000.0)) return {};
    auto micros = static_cast<std::int64_t>(std::llround(milliseconds * 1000.0));
    if (style == TimeStyle::with_offset) micros += std::int64_t{offset_minutes} * 60'000'000;
    using std::chrono::days;
    using std::chrono::microseconds;
    const auto day = std::chrono::floor<days>(microseconds(micros));
    const std::chrono::year_month_day date{std::chrono::sys_days(day)};
    const std::int64_t rest = micros - microseconds(day).count();
    char buffer[80];
    std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02u", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    std::string result = buffer;
    if (style == TimeStyle::date) return result;
    const std::int64_t second = rest / 1'000'000;
    std::snprintf(buffer, sizeof buffer, "T%02d:%02d:%02d", static_cast<int>(second / 3600),
                  static_cast<int>(second / 60 % 60), static_cast<int>(second % 60));
    result += buffer;
    if (rest % 1'000'000 != 0) {
        std::snprintf(buffer, sizeof buffer, ".%06d", static_cast<int>(rest % 1'000'000));
        result += buffer;
    }
    if (style == TimeStyle::with_offset) {
        const int size = std::abs(offset_minutes);
        std::snprintf(buffer, sizeof buffer, "%c%02d:%02d", offset_minutes < 0 ? '-' : '+',
                      size / 60, size % 60);
        result += buffer;
    }
    return result;
}

std::string axis_time(const Axis& axis, double milliseconds) {
    if (axis.date_only && std::fmod(milliseconds, 86'400'000.0) == 0) {
        return iso_time(milliseconds, TimeStyle::date);
    }
    if (!axis.tz.empty()) {
        return iso_time(milliseconds, TimeStyle::with_offset, axis.tz_offset_min.value_or(0));
    }
    return iso_time(milliseconds, TimeStyle::plain);
}

std::string axis_value_text(const Axis& axis, double value, int digits) {
    if (axis.scale == Scale::datetime) {
        std::string text = axis_time(axis, value);
        // Midnight is not worth saying.
        if (text.size() == 19 && text.ends_with("T00:00:00")) text.resize(10);
        if (!text.empty()) return text;
    }
    for (std::size_t i = 0; i < axis.categories.size() && i < axis.positions.size(); ++i) {
        if (std::abs(axis.positions[i] - value) < 1e-9) return axis.categories[i];
    }
    return format_number(value, digits);
}

}  // namespace cellblock::charts
