// Some rows of one column in memory, every offset checked: what cells are read from.
//
// Made by ArrowFile::read(). Self-contained but for `field`, which points into the file's schema.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "artifacts/arrow/schema.h"
#include "base/bytes.h"

namespace cellblock::artifacts::arrow {

struct Slice {
    const Field* field = nullptr;
    std::uint64_t length = 0;
    Bytes validity;  // empty: no nulls
    std::size_t first_validity_bit = 0;
    Bytes data;  // values; for text and binary their bytes; for booleans bits
    std::size_t first_data_bit = 0;
    std::vector<std::uint64_t> offsets;  // length + 1, into data or into the child
    std::vector<Slice> children;
    // Of a dictionary's column: where each row's value is. Null rows point nowhere.
    struct Entry {
        const Slice* values = nullptr;
        std::uint64_t row = 0;
    };
    std::vector<Entry> entries;
    std::vector<std::shared_ptr<const Slice>> dictionaries;  // keeps what `entries` point to

    Slice() = default;

    bool is_null(std::uint64_t row) const;
    // Of the validity bits alone; they are not empty.
    bool has_null_bit(std::uint64_t row) const;
    bool boolean(std::uint64_t row) const;
    // The bytes of one value: of its fixed width, or text and binary.
    ByteView bytes(std::uint64_t row) const;
    std::string_view text(std::uint64_t row) const { return as_text(bytes(row)); }
    // Little-endian, sign-extended where the type has a sign; 64 bits at most.
    std::int64_t integer(std::uint64_t row) const;
    double floating(std::uint64_t row) const;
};

}  // namespace cellblock::artifacts::arrow
