// 128-bit integers, as decimals have them: loaded, and written with a scale.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace cellblock::artifacts::arrow {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// Of 16 little-endian bytes.
inline Int128 load_int128(ByteView bytes) {
    const UInt128 low = load_le<std::uint64_t>(bytes.data());
    const UInt128 high = load_le<std::uint64_t>(bytes.data() + 8);
    return static_cast<Int128>(high << 64 | low);
}

// value / 10^scale: "-1.50". As Python's str(Decimal) but never with an exponent.
inline std::string decimal_text(Int128 value, std::int32_t scale) {
    UInt128 rest =
        value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
    std::string digits;  // the last one first
    while (rest > 0 || digits.empty()) {
        digits += static_cast<char>('0' + static_cast<int>(rest % 10));
        rest /= 10;
    }
    const bool is_zero = digits == "0";
    if (scale < 0 && !is_zero) digits.insert(0, static_cast<std::size_t>(-scale), '0');
    if (scale > 0) {
        const auto places = static_cast<std::size_t>(scale);
        while (digits.size() <= places) digits += '0';
        digits.insert(places, ".");
    }
    if (value < 0) digits += '-';
    std::reverse(digits.begin(), digits.end());
    return digits;
}

}  // namespace cellblock::artifacts::arrow
