// Time as the protocols write it. Durations inside are std::chrono, at borders *_ms or *_ns
// integers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cellblock {

using Deadline = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

// Nanoseconds since the epoch, as files and the guest have them, and back.
inline std::int64_t to_nanoseconds(WallTime time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}
inline WallTime wall_time_from(std::int64_t since_epoch_ns) {
    return WallTime(
        std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(since_epoch_ns)));
}
inline std::int64_t wall_clock_ns() {
    return to_nanoseconds(std::chrono::system_clock::now());
}

// "2026-01-31T08:15:00.123456Z": UTC, six digits, a literal Z, as jupyter_server's own client
// parses.
std::string iso8601(WallTime time);
inline std::string iso8601_now() {
    return iso8601(std::chrono::system_clock::now());
}

}  // namespace cellblock
