#include "artifacts/arrow/zone.h"

#include <algorithm>
#include <optional>

#include "artifacts/arrow/calendar.h"
#include "base/files.h"

namespace cellblock::artifacts::arrow {
namespace {

constexpr std::string_view zoneinfo = "/usr/share/zoneinfo/";
constexpr std::size_t file_max_bytes = 64 * 1024;
constexpr std::size_t name_max_bytes = 64;
constexpr std::int64_t moment_max_s = std::int64_t{1} << 55;

bool is_plain_name(std::string_view name) {
    if (name.empty() || name.size() > name_max_bytes || name.front() == '/') return false;
    // Without dots there is neither a parent folder nor another file's suffix.
    return name.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/") ==
           std::string_view::npos;
}

std::int64_t big_endian(const std::byte* at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
        value = value << 8 | std::to_integer<std::uint64_t>(at[i]);
    }
    if (bytes == 4) return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
    return static_cast<std::int64_t>(value);
}

// A reader of POSIX TZ strings, "CET-1CEST,M3.5.0,M10.5.0/3".
class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool at_end() const { return text_.empty(); }
    bool take(char c) {
        if (text_.empty() || text_.front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }
    bool name() {
        const bool quoted = take('<');
        std::size_t size = 0;
        while (size < text_.size() && (quoted ? text_[size] != '>' : is_letter(text_[size]))) {
            ++size;
        }
        text_.remove_prefix(size);
        return size > 0 && (!quoted || take('>'));
    }
    std::optional<int> number() {
        std::optional<int> value;
        while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
            value = std::min(value.value_or(0) * 10 + (text_.front() - '0'), 10'000);
            text_.remove_prefix(1);
        }
        return value;
    }
    // [+-]hh[:mm[:ss]]
    std::optional<std::int32_t> time() {
        const bool negative = take('-');
        if (!negative) take('+');
        std::int32_t seconds = 0;
        for (const std::int32_t unit : {3600, 60, 1}) {
            const auto part = number();
            if (!part) return std::nullopt;
            seconds += *part * unit;
            if (!take(':')) break;
        }
        return negative ? -seconds : seconds;
    }

  private:
    static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
    std::string_view text_;
};

std::optional<std::int32_t> fixed_offset(std::string_view name) {
    if (name.size() != 6 || (name[0] != '+' && name[0] != '-') || name[3] != ':') {
        return std::nullopt;
    }
    return Reader(name).time();
}

}  // namespace

Zone Zone::find(std::string_view name) {
    Zone zone;
    if (const auto offset = fixed_offset(name)) {
        zone.first_offset_s_ = *offset;
        return zone;
    }
    if (!is_plain_name(name)) return zone;
    const auto file = read_file(std::string(zoneinfo) + std::string(name), file_max_bytes);
    return file ? of_file(cellblock::as_bytes(*file)) : zone;
}

Zone Zone::of_file(ByteView file) {
    // Two blocks, of 32- and of 64-bit times, each behind a header of six counts; then the rule.
    constexpr std::size_t header = 44;
    Zone zone;
    std::size_t counts[6] = {};
    const auto read_header = [&](std::size_t at) {
        if (file.size() < at + header || as_text(file.subspan(at, 4)) != "TZif") return false;
        for (std::size_t i = 0; i < 6; ++i) {
            counts[i] = static_cast<std::uint32_t>(big_endian(file.data() + at + 20 + 4 * i, 4));
            if (counts[i] > file.size()) return false;
        }
        return true;
    };
    if (!read_header(0)) return zone;
    const std::size_t second =
        header + counts[3] * 5 + counts[4] * 6 + counts[5] + counts[2] * 8 + counts[1] + counts[0];
    if (!read_header(second)) return zone;
    const std::size_t times = counts[3];
    const std::size_t types = counts[4];
    const std::size_t begin = second + header;
    const std::size_t type_begin = begin + times * 9;
    const std::size_t end =
        type_begin + types * 6 + counts[5] + counts[2] * 12 + counts[1] + counts[0];
    if (end > file.size() || types == 0) return zone;
    const auto offset_of = [&](std::size_t type) {
        return static_cast<std::int32_t>(big_endian(file.data() + type_begin + type * 6, 4));
    };
    zone.first_offset_s_ = offset_of(0);
    for (std::size_t i = 0; i < times; ++i) {
        const auto type = std::to_integer<std::size_t>(file[begin + times * 8 + i]);
        if (type >= types) return Zone();
        zone.changes_.push_back({big_endian(file.data() + begin + i * 8, 8), offset_of(type)});
    }
    std::string_view rule = as_text(file.subspan(end));
    if (rule.starts_with('\n')) rule.remove_prefix(1);
    zone.has_rule_ = zone.read_rule(rule.substr(0, rule.find('\n')));
    return zone;
}

bool Zone::read_rule(std::string_view text) {
    Reader reader(text);
    if (!reader.name()) return false;
    const auto standard = reader.time();
    if (!standard) return false;
    standard_s_ = -*standard;
    if (reader.at_end()) return true;
    if (!reader.name()) return false;
    summer_s_ = standard_s_ + 3600;
    if (!reader.take(',')) {
        const auto summer = reader.time();
        if (!summer || !reader.take(',')) return false;
        summer_s_ = -*summer;
    }
    const auto rule = [&reader](Rule& into) {
        if (!reader.take('M')) return false;
        const auto month = reader.number();
        if (!month || !reader.take('.')) return false;
        const auto week = reader.number();
        if (!week || !reader.take('.')) return false;
        const auto weekday = reader.number();
        if (!weekday || *month < 1 || *month > 12 || *weekday > 6) return false;
        into.month = *month;
        into.week = *week;
        into.weekday = *weekday;
        into.time_s = 7200;
        if (!reader.take('/')) return true;
        const auto time = reader.time();
        into.time_s = time.value_or(0);
        return time.has_value();
    };
    has_summer_ = rule(to_summer_) && reader.take(',') && rule(to_standard_);
    return has_summer_;
}

std::int64_t Zone::Rule::in_year(std::int64_t year) const {
    const std::int64_t first = days_from_civil({year, month, 1});
    const std::int64_t first_weekday = ((first + 4) % 7 + 7) % 7;  // 1970-01-01 was a Thursday
    std::int64_t day = first + (weekday - first_weekday + 7) % 7 + (week - 1) * 7;
    const std::int64_t next = days_from_civil({month == 12 ? year + 1 : year, month % 12 + 1, 1});
    while (day >= next) day -= 7;  // week 5: the last one
    return day * 86400 + time_s;
}

std::int32_t Zone::offset_by_rule(std::int64_t utc_s) const {
    if (!has_summer_) return standard_s_;
    const std::int64_t year = civil_from_days(floor_div(utc_s + standard_s_, 86400)).year;
    const std::int64_t begin = to_summer_.in_year(year) - standard_s_;
    const std::int64_t end = to_standard_.in_year(year) - summer_s_;
    // In the south the summer goes over the new year.
    const bool summer = begin < end ? utc_s >= begin && utc_s < end : utc_s >= begin || utc_s < end;
    return summer ? summer_s_ : standard_s_;
}

std::int32_t Zone::offset_at(std::int64_t utc_s) const {
    // Past a billion years there are no clocks, and sums would overflow.
    if (utc_s > moment_max_s || utc_s < -moment_max_s) return 0;
    if (changes_.empty() || utc_s >= changes_.back().at_utc_s) {
        if (has_rule_) return offset_by_rule(utc_s);
        return changes_.empty() ? first_offset_s_ : changes_.back().offset_s;
    }
    const auto after = std::upper_bound(
        changes_.begin(), changes_.end(), utc_s,
        [](std::int64_t at, const Change& change) { return at < change.at_utc_s; });
    return after == changes_.begin() ? first_offset_s_ : (after - 1)->offset_s;
}

std::int64_t Zone::to_utc(std::int64_t local_s) const {
    const std::int64_t guess = local_s - offset_at(local_s);
    return local_s - offset_at(guess);
}

}  // namespace cellblock::artifacts::arrow
