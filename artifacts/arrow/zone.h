// How far a time zone is from UTC at some moment: fixed ones ("+01:00", "UTC"), and IANA names by
// the host's zoneinfo (RFC 8536). The name is a guest's: only plain relative names are looked up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace cellblock::artifacts::arrow {

class Zone {
  public:
    // UTC for a name that is not known here.
    static Zone find(std::string_view name);
    // Of a TZif file's bytes; UTC when they are none. For find(), and for tests.
    static Zone of_file(ByteView file);

    std::int32_t offset_at(std::int64_t utc_s) const;
    // Of a wall clock's time in this zone: the UTC moment (at a change of clocks, one of the two).
    std::int64_t to_utc(std::int64_t local_s) const;

  private:
    struct Change {
        std::int64_t at_utc_s;
        std::int32_t offset_s;
    };
    // A yearly change of the rule that holds after the last one of the list: "M10.5.0/3".
    struct Rule {
        int month = 0;
        int week = 0;
        int weekday = 0;
        std::int32_t time_s = 0;
        std::int64_t in_year(std::int64_t year) const;  // as local seconds since 1970
    };

    bool read_rule(std::string_view text);
    std::int32_t offset_by_rule(std::int64_t utc_s) const;

    std::int32_t first_offset_s_ = 0;
    std::vector<Change> changes_;  // ascending
    bool has_rule_ = false;
    bool has_summer_ = false;
    std::int32_t standard_s_ = 0;
    std::int32_t summer_s_ = 0;
    Rule to_summer_;
    Rule to_standard_;
};

}  // namespace cellblock::artifacts::arrow
