// Range requests (RFC 9110 section 14), one range at a time. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cellblock::gateway::http {

enum class RangeVerdict { whole, part, unsatisfiable };

struct ByteRange {
    RangeVerdict verdict;
    std::uint64_t first;
    std::uint64_t size;
};

// What to send of `total` bytes for this Range field. Several ranges, other units and malformed
// fields mean the whole: RFC 9110 lets a server ignore Range.
ByteRange select_range(std::optional<std::string_view> range, std::uint64_t total);

// Whether `etag` (quoted, strong) matches an If-None-Match or If-Match list; weak comparison.
bool etag_matches(std::string_view list, std::string_view etag);

}  // namespace cellblock::gateway::http
