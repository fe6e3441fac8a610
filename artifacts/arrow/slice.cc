#include "artifacts/arrow/slice.h"

#include <bit>
#include <cmath>

namespace cellblock::artifacts::arrow {
namespace {

bool bit_of(const Bytes& bytes, std::uint64_t bit) {
    return (std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8) & 1U) != 0;
}

double half_to_double(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1F;
    const int fraction = bits & 0x3FF;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == 0x1F) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(fraction + 1024, exponent - 25);
}

}  // namespace

bool Slice::has_null_bit(std::uint64_t row) const {
    return !bit_of(validity, first_validity_bit + row);
}

bool Slice::is_null(std::uint64_t row) const {
    if (!validity.empty() && has_null_bit(row)) return true;
    if (field->dictionary) {
        const Entry& entry = entries[row];
        return entry.values == nullptr || entry.values->is_null(entry.row);
    }
    return field->type.kind == TypeKind::null;
}

bool Slice::boolean(std::uint64_t row) const {
    return bit_of(data, first_data_bit + row);
}

ByteView Slice::bytes(std::uint64_t row) const {
    const ByteView all(data);
    if (!offsets.empty()) return all.subspan(offsets[row], offsets[row + 1] - offsets[row]);
    return all.subspan(row * field->type.width_bytes, field->type.width_bytes);
}

std::int64_t Slice::integer(std::uint64_t row) const {
    const std::size_t width = field->type.width_bytes;
    const std::byte* at = data.data() + row * width;
    const bool is_signed = field->type.kind != TypeKind::integer || field->type.is_signed;
    switch (width) {
        case 1: {
            const auto value = load_le<std::uint8_t>(at);
            return is_signed ? static_cast<std::int8_t>(value) : std::int64_t{value};
        }
        case 2: {
            const auto value = load_le<std::uint16_t>(at);
            return is_signed ? static_cast<std::int16_t>(value) : std::int64_t{value};
        }
        case 4: {
            const auto value = load_le<std::uint32_t>(at);
            return is_signed ? static_cast<std::int32_t>(value) : std::int64_t{value};
        }
        default:
            return static_cast<std::int64_t>(load_le<std::uint64_t>(at));
    }
}

double Slice::floating(std::uint64_t row) const {
    const std::size_t width = field->type.width_bytes;
    const std::byte* at = data.data() + row * width;
    if (width == 2) return half_to_double(load_le<std::uint16_t>(at));
    if (width == 4) return std::bit_cast<float>(load_le<std::uint32_t>(at));
    return std::bit_cast<double>(load_le<std::uint64_t>(at));
}

}  // namespace cellblock::artifacts::arrow
