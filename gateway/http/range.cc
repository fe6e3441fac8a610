#include "gateway/http/range.h"

#include <algorithm>
#include <charconv>

#include "gateway/http/headers.h"

namespace cellblock::gateway::http {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
    if (text.empty() || text.size() > 18) return std::nullopt;
    std::uint64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

ByteRange select_range(std::optional<std::string_view> range, std::uint64_t total) {
    const ByteRange whole{RangeVerdict::whole, 0, total};
    if (!range) return whole;
    std::string_view spec = trim(*range);
    constexpr std::string_view unit = "bytes=";
    if (!equal_ignoring_case(spec.substr(0, unit.size()), unit)) return whole;
    spec = trim(spec.substr(unit.size()));
    const std::size_t dash = spec.find('-');
    if (dash == std::string_view::npos || spec.find(',') != std::string_view::npos) return whole;
    const std::string_view from = trim(spec.substr(0, dash));
    const std::string_view to = trim(spec.substr(dash + 1));
    const ByteRange none{RangeVerdict::unsatisfiable, 0, 0};
    if (from.empty()) {
        const auto suffix = number(to);
        if (!suffix) return whole;
        if (*suffix == 0 || total == 0) return none;
        const std::uint64_t size = std::min(*suffix, total);
        return ByteRange{RangeVerdict::part, total - size, size};
    }
    const auto first = number(from);
    const auto last = to.empty() ? std::optional<std::uint64_t>(UINT64_MAX) : number(to);
    if (!first || !last || *last < *first) return whole;
    if (*first >= total) return none;
    const std::uint64_t end = std::min(*last, total - 1);
    return ByteRange{RangeVerdict::part, *first, end - *first + 1};
}

bool etag_matches(std::string_view list, std::string_view etag) {
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        std::string_view item = trim(list.substr(0, comma));
        list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
        if (item == "*") return true;
        if (item.substr(0, 2) == "W/") item.remove_prefix(2);
        if (item == etag) return true;
    }
    return false;
}

}  // namespace cellblock::gateway::http
