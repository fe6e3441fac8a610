// Request targets: split, decoded, and refused where decoding is ambiguous or dangerous.
//
// Pure. A decoded segment is valid UTF-8, has no NUL, and is neither "." nor "..": so no handler
// ever sees a path that climbs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace cellblock::gateway::http {

class Query {
  public:
    // Application/x-www-form-urlencoded; lenient about broken escapes (kept as they are).
    static Query parse(std::string_view text);

    // The first value of that name.
    std::optional<std::string> get(std::string_view name) const;
    std::vector<std::string> all(std::string_view name) const;
    const std::vector<std::pair<std::string, std::string>>& items() const { return items_; }

  private:
    std::vector<std::pair<std::string, std::string>> items_;
};

struct Target {
    std::string path;                   // as sent, without query
    std::vector<std::string> segments;  // decoded; "/" has none
    Query query;

    Target() = default;
};

// `target` in origin-form, absolute-form or "*" (which has no segments).
Result<Target> parse_target(std::string_view target);

// Strict: "%4" or "%zz" is std::nullopt.
std::optional<std::string> percent_decode(std::string_view text);
// All but unreserved characters.
std::string percent_encode(std::string_view text);

}  // namespace cellblock::gateway::http
