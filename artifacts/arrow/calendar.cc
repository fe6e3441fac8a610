#include "artifacts/arrow/calendar.h"

#include <fmt/format.h>

namespace cellblock::artifacts::arrow {
namespace {

constexpr std::int64_t day_s = 86400;

// ".000001", ".000000001" or nothing.
std::string fraction_text(std::int64_t nanoseconds) {
    if (nanoseconds == 0) return "";
    if (nanoseconds % 1000 == 0) return fmt::format(".{:06}", nanoseconds / 1000);
    return fmt::format(".{:09}", nanoseconds);
}

// Digits without the zeros at their end.
std::string short_fraction(std::uint64_t nanoseconds) {
    std::string text = fmt::format(".{:09}", nanoseconds);
    while (text.back() == '0') text.pop_back();
    return text == "." ? "" : text;
}

// The part behind the T of a duration.
std::string clock_part(std::uint64_t seconds, std::uint64_t nanoseconds) {
    std::string text;
    if (const auto hours = seconds / 3600; hours > 0) text += fmt::format("{}H", hours);
    if (const auto minutes = seconds / 60 % 60; minutes > 0) text += fmt::format("{}M", minutes);
    if (seconds % 60 > 0 || nanoseconds > 0) {
        text += fmt::format("{}{}S", seconds % 60, short_fraction(nanoseconds));
    }
    return text.empty() ? text : "T" + text;
}

// Takes a fixed number of digits off the front.
std::optional<int> digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (text[i] < '0' || text[i] > '9') return std::nullopt;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
}

bool take(std::string_view& text, char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

// hh:mm[:ss[.fraction]] off the front.
std::optional<std::int64_t> take_clock(std::string_view& text) {
    const auto hours = digits(text, 2);
    if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
    const auto minutes = digits(text, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    std::int64_t nanoseconds = (std::int64_t{*hours} * 60 + *minutes) * 60 * second_ns;
    if (!take(text, ':')) return nanoseconds;
    const auto seconds = digits(text, 2);
    if (!seconds || *seconds > 59) return std::nullopt;
    nanoseconds += *seconds * second_ns;
    if (!take(text, '.')) return nanoseconds;
    std::int64_t unit = second_ns / 10;
    bool any = false;
    while (const auto digit = digits(text, 1)) {
        nanoseconds += *digit * unit;
        unit /= 10;
        any = true;
    }
    return any ? std::optional(nanoseconds) : std::nullopt;
}

// Z, +hh:mm or nothing, and then the end.
bool take_offset(std::string_view text, std::optional<std::int32_t>& offset_s) {
    if (text.empty()) return true;
    if (text == "Z" || text == "z") {
        offset_s = 0;
        return true;
    }
    const bool negative = text.front() == '-';
    if (!negative && text.front() != '+') return false;
    text.remove_prefix(1);
    const auto hours = digits(text, 2);
    if (!hours) return false;
    take(text, ':');
    const auto minutes = digits(text, 2);
    if (!minutes || *hours > 23 || *minutes > 59 || !text.empty()) return false;
    const std::int32_t seconds = (*hours * 60 + *minutes) * 60;
    offset_s = negative ? -seconds : seconds;
    return true;
}

}  // namespace

// Both after Howard Hinnant's "chrono-compatible low-level date algorithms".
Civil civil_from_days(std::int64_t days) {
    days += 719468;
    const std::int64_t era = floor_div(days, 146097);
    const std::int64_t day_of_era = days - era * 146097;
    const std::int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const std::int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::int64_t shifted = (5 * day_of_year + 2) / 153;
    Civil civil;
    civil.day = static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1);
    civil.month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
    civil.year = year_of_era + era * 400 + (civil.month <= 2 ? 1 : 0);
    return civil;
}

std::int64_t days_from_civil(const Civil& civil) {
    const std::int64_t year = civil.year - (civil.month <= 2 ? 1 : 0);
    const std::int64_t era = floor_div(year, 400);
    const std::int64_t year_of_era = year - era * 400;
    const std::int64_t month = civil.month + (civil.month > 2 ? -3 : 9);
    const std::int64_t day_of_year = (153 * month + 2) / 5 + civil.day - 1;
    const std::int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

std::int64_t units_per_second(TimeUnit unit) {
    switch (unit) {
        case TimeUnit::second:
            return 1;
        case TimeUnit::millisecond:
            return 1000;
        case TimeUnit::microsecond:
            return 1'000'000;
        case TimeUnit::nanosecond:
            return second_ns;
    }
    return 1;
}

Moment moment_of(std::int64_t value, TimeUnit unit) {
    const std::int64_t per_second = units_per_second(unit);
    Moment moment;
    moment.seconds = floor_div(value, per_second);
    const std::int64_t rest = (value % per_second + per_second) % per_second;
    moment.nanoseconds = rest * (second_ns / per_second);
    return moment;
}

std::string date_text(std::int64_t days) {
    const Civil civil = civil_from_days(days);
    // Outside of four digits as ISO 8601 has it, with a sign.
    if (civil.year < 0 || civil.year > 9999) {
        return fmt::format("{:+05}-{:02}-{:02}", civil.year, civil.month, civil.day);
    }
    return fmt::format("{:04}-{:02}-{:02}", civil.year, civil.month, civil.day);
}

std::string time_text(const Moment& since_midnight) {
    const std::int64_t s = since_midnight.seconds;
    return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60) +
           fraction_text(since_midnight.nanoseconds);
}

std::string wall_clock_text(const Moment& local) {
    const std::int64_t days = floor_div(local.seconds, day_s);
    return date_text(days) + "T" +
           time_text(Moment{local.seconds - days * day_s, local.nanoseconds});
}

std::string offset_text(std::int32_t offset_s) {
    const std::int32_t size = offset_s < 0 ? -offset_s : offset_s;
    std::string text =
        fmt::format("{}{:02}:{:02}", offset_s < 0 ? '-' : '+', size / 3600, size / 60 % 60);
    if (size % 60 != 0) text += fmt::format(":{:02}", size % 60);
    return text;
}

std::string duration_text(std::int64_t value, TimeUnit unit) {
    // Unsigned, because the most negative value has no positive twin.
    const std::uint64_t size =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const auto per_second = static_cast<std::uint64_t>(units_per_second(unit));
    const std::uint64_t seconds = size / per_second;
    const std::uint64_t nanoseconds = size % per_second * (second_ns / per_second);
    std::string text = value < 0 ? "-P" : "P";
    if (seconds >= day_s) text += fmt::format("{}D", seconds / day_s);
    text += clock_part(seconds % day_s, nanoseconds);
    return text.back() == 'P' ? text + "T0S" : text;
}

std::string month_interval_text(std::int32_t months, std::int32_t days, std::int64_t nanoseconds) {
    std::string text = "P";
    if (months / 12 != 0) text += fmt::format("{}Y", months / 12);
    if (months % 12 != 0) text += fmt::format("{}M", months % 12);
    if (days != 0) text += fmt::format("{}D", days);
    const std::string clock = duration_text(nanoseconds, TimeUnit::nanosecond);
    if (nanoseconds == 0) return text == "P" ? "PT0S" : text;
    // A sign of its own for the clock: the parts do not add up to one.
    const bool negative = clock.front() == '-';
    return text + (negative ? "-" : "") + clock.substr(negative ? 2 : 1);
}

std::optional<std::int64_t> parse_time(std::string_view text) {
    const auto clock = take_clock(text);
    return clock && text.empty() ? clock : std::nullopt;
}

std::optional<ParsedMoment> parse_moment(std::string_view text) {
    const auto year = digits(text, 4);
    if (!year || !take(text, '-')) return std::nullopt;
    const auto month = digits(text, 2);
    if (!month || *month < 1 || *month > 12 || !take(text, '-')) return std::nullopt;
    const auto day = digits(text, 2);
    if (!day || *day < 1 || *day > 31) return std::nullopt;
    const std::int64_t days = days_from_civil({*year, *month, *day});
    if (civil_from_days(days).day != *day) return std::nullopt;  // no 30th of February
    ParsedMoment parsed;
    parsed.moment.seconds = days * day_s;
    if (text.empty()) return parsed;
    if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
    const auto clock = take_clock(text);
    if (!clock || !take_offset(text, parsed.offset_s)) return std::nullopt;
    parsed.moment.seconds += *clock / second_ns;
    parsed.moment.nanoseconds = *clock % second_ns;
    return parsed;
}

}  // namespace cellblock::artifacts::arrow
