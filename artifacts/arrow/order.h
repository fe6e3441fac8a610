// Comparing cells: with a value that a client wrote (filters), and with each other (sorting).
//
// Numbers, booleans, dates, times and durations are compared as exact integers, floats by their
// bits in an order that is the numbers'; texts, and whatever has no order of its own, as bytes.
// A category counts as its value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/arrow/cell.h"
#include "artifacts/arrow/int128.h"
#include "artifacts/arrow/slice.h"
#include "base/error.h"

namespace cellblock::artifacts::arrow {

enum class OrderKind { number, text };

// How cells of a column are compared. Lists and the like have the order of their texts.
OrderKind order_kind(const Field& field);

// NaN counts as null, as in pandas.
bool is_missing(const Slice& slice, std::uint64_t row);
// Only for order_kind number, and not for missing ones.
Int128 number_key(const Slice& slice, std::uint64_t row);
// Only for order_kind text: in `buffer`, or in the slice.
std::string_view text_key(CellWriter& writer, const Slice& slice, std::uint64_t row,
                          std::string& buffer);

// A client's value in the terms of a column.
struct Operand {
    OrderKind kind = OrderKind::text;
    std::string text;
    Int128 number = 0;  // rounded down to what cells of the column can be
    bool exact = true;  // false: the value lies above `number` and below the next
    // < 0, 0, > 0: the cell is below, equal to, above the value.
    int compare(Int128 cell) const;

    Operand() = default;
};

// invalid_argument with what the column takes.
Result<Operand> parse_operand(CellWriter& writer, const Field& field, std::string_view value);

}  // namespace cellblock::artifacts::arrow
