#include "artifacts/arrow/order.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "artifacts/arrow/calendar.h"
#include "artifacts/text.h"

namespace cellblock::artifacts::arrow {
namespace {

constexpr std::int64_t day_ms = 86'400'000;
// Digits of a client's number: 38 fit 127 bits.
constexpr std::size_t digits_max = 38;

const Field& value_field(const Field& field) {
    return field.dictionary_values.empty() ? field : field.dictionary_values[0];
}

// The bits of a double as an integer with the numbers' order; -0.0 is 0.0.
Int128 float_key(double value) {
    if (value == 0) value = 0.0;
    const auto bits = std::bit_cast<std::int64_t>(value);
    return bits >= 0 ? bits : -static_cast<Int128>(bits & std::numeric_limits<std::int64_t>::max());
}

// floor(value / divisor), and whether nothing was lost.
Operand divided(Int128 value, Int128 divisor) {
    Operand operand;
    operand.kind = OrderKind::number;
    operand.number = value / divisor;
    operand.exact = value % divisor == 0;
    if (!operand.exact && value < 0) --operand.number;
    return operand;
}

// A decimal number times 10^scale.
std::optional<Operand> scaled(std::string_view text, std::int32_t scale) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    Int128 value = 0;
    std::size_t digits = 0;
    std::int32_t places = 0;
    bool in_fraction = false;
    for (const char c : text) {
        if (c == '.' && !in_fraction) {
            in_fraction = true;
            continue;
        }
        if (c < '0' || c > '9' || ++digits > digits_max) return std::nullopt;
        value = value * 10 + (c - '0');
        places += in_fraction ? 1 : 0;
    }
    if (digits == 0) return std::nullopt;
    if (negative) value = -value;
    Int128 divisor = 1;
    for (; places < scale; ++places) {
        if (__builtin_mul_overflow(value, Int128{10}, &value)) return std::nullopt;
    }
    for (; places > scale; --places) {
        if (__builtin_mul_overflow(divisor, Int128{10}, &divisor)) return std::nullopt;
    }
    return divided(value, divisor);
}

std::optional<Operand> exact(std::optional<Int128> number) {
    if (!number) return std::nullopt;
    Operand operand;
    operand.kind = OrderKind::number;
    operand.number = *number;
    return operand;
}

std::optional<Operand> floating(std::string_view text) {
    double number = 0;
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || std::isnan(number)) {
        return std::nullopt;
    }
    return exact(float_key(number));
}

std::optional<Operand> boolean(std::string_view text) {
    if (text == "true" || text == "True" || text == "1") return exact(1);
    if (text == "false" || text == "False" || text == "0") return exact(0);
    return std::nullopt;
}

std::optional<Operand> timestamp(CellWriter& writer, const Type& type, std::string_view text) {
    const auto parsed = parse_moment(text);
    if (!parsed) return std::nullopt;
    std::int64_t seconds = parsed->moment.seconds;
    if (parsed->offset_s) {
        seconds -= *parsed->offset_s;
    } else if (!type.zone.empty()) {
        seconds = writer.zone(type.zone).to_utc(seconds);
    }
    const Int128 nanoseconds = Int128{seconds} * second_ns + parsed->moment.nanoseconds;
    return divided(nanoseconds, second_ns / units_per_second(type.unit));
}

std::optional<Operand> date(const Type& type, std::string_view text) {
    const auto parsed = parse_moment(text);
    if (!parsed) return std::nullopt;
    return divided(Int128{parsed->moment.seconds} * 1000, type.in_days ? day_ms : 1);
}

std::optional<Operand> time_of_day(const Type& type, std::string_view text) {
    const auto parsed = parse_time(text);
    if (!parsed) return std::nullopt;
    return divided(*parsed, second_ns / units_per_second(type.unit));
}

// Seconds, as a number.
std::optional<Operand> duration(const Type& type, std::string_view text) {
    const auto nanoseconds = scaled(text, 9);
    if (!nanoseconds || !nanoseconds->exact) return std::nullopt;
    return divided(nanoseconds->number, second_ns / units_per_second(type.unit));
}

std::optional<Operand> number_operand(CellWriter& writer, const Type& type, std::string_view text) {
    switch (type.kind) {
        case TypeKind::boolean:
            return boolean(text);
        case TypeKind::integer:
            return scaled(text, 0);
        case TypeKind::decimal:
            return scaled(text, type.scale);
        case TypeKind::floating:
            return floating(text);
        case TypeKind::date:
            return date(type, text);
        case TypeKind::time:
            return time_of_day(type, text);
        case TypeKind::timestamp:
            return timestamp(writer, type, text);
        case TypeKind::duration:
            return duration(type, text);
        default:
            return std::nullopt;
    }
}

std::string_view expected(TypeKind kind) {
    switch (kind) {
        case TypeKind::boolean:
            return "true or false";
        case TypeKind::date:
            return "a date such as 2024-02-29";
        case TypeKind::time:
            return "a time such as 08:30:00";
        case TypeKind::timestamp:
            return "a moment such as 2024-02-29T08:30:00 or 2024-02-29T08:30:00+01:00";
        case TypeKind::duration:
            return "a number of seconds";
        default:
            return "a number";
    }
}

}  // namespace

OrderKind order_kind(const Field& field) {
    switch (value_field(field).type.kind) {
        case TypeKind::boolean:
        case TypeKind::integer:
        case TypeKind::floating:
        case TypeKind::decimal:
        case TypeKind::date:
        case TypeKind::time:
        case TypeKind::timestamp:
        case TypeKind::duration:
            return OrderKind::number;
        default:
            return OrderKind::text;
    }
}

bool is_missing(const Slice& slice, std::uint64_t row) {
    if (slice.is_null(row)) return true;
    if (slice.field->dictionary) {
        return is_missing(*slice.entries[row].values, slice.entries[row].row);
    }
    return slice.field->type.kind == TypeKind::floating && std::isnan(slice.floating(row));
}

Int128 number_key(const Slice& slice, std::uint64_t row) {
    if (slice.field->dictionary) {
        return number_key(*slice.entries[row].values, slice.entries[row].row);
    }
    const Type& type = slice.field->type;
    if (type.kind == TypeKind::boolean) return slice.boolean(row) ? 1 : 0;
    if (type.kind == TypeKind::floating) return float_key(slice.floating(row));
    if (type.width_bytes == 16) return load_int128(slice.bytes(row));
    const std::int64_t value = slice.integer(row);
    if (type.kind == TypeKind::integer && !type.is_signed) return static_cast<std::uint64_t>(value);
    return value;
}

std::string_view text_key(CellWriter& writer, const Slice& slice, std::uint64_t row,
                          std::string& buffer) {
    if (slice.field->dictionary) {
        return text_key(writer, *slice.entries[row].values, slice.entries[row].row, buffer);
    }
    if (slice.field->type.kind == TypeKind::text) return slice.text(row);
    buffer.clear();
    writer.append_text(buffer, slice, row);
    return buffer;
}

int Operand::compare(Int128 cell) const {
    if (cell != number) return cell < number ? -1 : 1;
    return exact ? 0 : -1;
}

Result<Operand> parse_operand(CellWriter& writer, const Field& field, std::string_view value) {
    if (order_kind(field) == OrderKind::text) {
        Operand operand;
        operand.text = std::string(value);
        return operand;
    }
    const Type& type = value_field(field).type;
    const auto operand = number_operand(writer, type, value);
    if (operand) return *operand;
    return fail(ErrorCode::invalid_argument,
                "'" + one_line(value, 60) + "' cannot be compared with column '" +
                    one_line(field.name, 60) + "' (" + type_name(field) + ")",
                "it takes " + std::string(expected(type.kind)));
}

}  // namespace cellblock::artifacts::arrow
