// The columns of an Arrow file: their types, and where each has its buffers in a record batch.
//
// A restricted profile: what no writer of ours makes (unions, run ends, views, big endian, nested
// dictionaries) is refused with its name, not guessed at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "artifacts/arrow/flat_buffer.h"
#include "base/error.h"

namespace cellblock::artifacts::arrow {

enum class TypeKind {
    null,
    boolean,
    integer,
    floating,
    decimal,
    date,
    time,
    timestamp,
    duration,
    month_interval,
    text,
    binary,
    fixed_binary,
    list,
    fixed_list,
    structure,
    map
};

enum class TimeUnit { second, millisecond, microsecond, nanosecond };

struct Type {
    TypeKind kind = TypeKind::null;
    // Of one value; 0 where values have no fixed size. Booleans are packed: 0 too.
    std::size_t width_bytes = 0;
    std::size_t offset_bytes = 4;  // of text, binary, list: 4 or 8
    bool is_signed = true;
    TimeUnit unit = TimeUnit::second;
    bool in_days = false;     // dates: days, else milliseconds
    std::string zone;         // timestamps: IANA name or "+01:00"; empty: wall clock
    std::int32_t scale = 0;   // decimals
    std::uint64_t items = 0;  // of one fixed list

    Type() = default;
};

struct Field {
    std::string name;  // as the guest wrote it: any bytes
    Type type;         // of the values; a dictionary's indices have index_type
    std::vector<Field> children;
    std::optional<std::int64_t> dictionary;
    Type index_type;
    std::vector<std::pair<std::string, std::string>> metadata;
    // Of this field in a record batch, in pre-order over the whole schema.
    std::size_t node = 0;
    std::size_t buffer = 0;
    // Of its values in its dictionary's own batch. Set for dictionary fields only.
    std::vector<Field> dictionary_values;

    Field() = default;
    std::string_view said(std::string_view key) const;  // of the metadata; empty when absent
};

struct Schema {
    std::vector<Field> fields;
    std::size_t nodes = 0;  // of one record batch
    std::size_t buffers = 0;

    Schema() = default;
};

Result<Schema> parse_schema(const FlatTable& schema);

// For all who read the file: it is not what a writer of ours makes, in that `what`.
tl::unexpected<Error> wrong_file(std::string_view what);

// Adds what a field and its children have in one batch.
void count_layout(const Field& field, std::size_t& nodes, std::size_t& buffers);

// "int64", "timestamp[us, Europe/Oslo]", "list<double>", "category<text>": for people and clients.
std::string type_name(const Field& field);

}  // namespace cellblock::artifacts::arrow
