// Days, dates and texts of moments, as Python's isoformat() writes them: what the guest's previews
// show of a date, the host's pages show too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "artifacts/arrow/schema.h"

namespace cellblock::artifacts::arrow {

struct Civil {
    std::int64_t year = 1970;
    int month = 1;
    int day = 1;
};

inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Proleptic Gregorian; `days` since 1970-01-01, any value within a billion years.
Civil civil_from_days(std::int64_t days);
std::int64_t days_from_civil(const Civil& civil);

inline constexpr std::int64_t second_ns = 1'000'000'000;
// Units of time in a second.
std::int64_t units_per_second(TimeUnit unit);

// A moment as seconds and the rest in nanoseconds (never negative).
struct Moment {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
};
Moment moment_of(std::int64_t value, TimeUnit unit);

// "2024-02-29T08:30:00.000001"
std::string wall_clock_text(const Moment& local);
// "+01:00"
std::string offset_text(std::int32_t offset_s);
std::string date_text(std::int64_t days);
// "08:30:00.5": of a day, without a date.
std::string time_text(const Moment& since_midnight);
// "P1DT2H3M4.5S", as the guest's values.duration().
std::string duration_text(std::int64_t value, TimeUnit unit);
// Months, days and nanoseconds that are no sum: "P1Y2M3DT4H".
std::string month_interval_text(std::int32_t months, std::int32_t days, std::int64_t nanoseconds);

// "2024-02-29", "2024-02-29T08:30[:00[.5]][Z|+01:00]", a space for the T; strict otherwise.
struct ParsedMoment {
    Moment moment;  // of the wall clock, if there is no offset
    std::optional<std::int32_t> offset_s;
};
std::optional<ParsedMoment> parse_moment(std::string_view text);
// "08:30[:00[.5]]" as nanoseconds since midnight.
std::optional<std::int64_t> parse_time(std::string_view text);

}  // namespace cellblock::artifacts::arrow
