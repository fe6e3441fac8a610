#include "artifacts/arrow/schema.h"

#include <limits>

#include "artifacts/arrow/profile.h"
#include "artifacts/text.h"
#include "base/limits.h"

namespace cellblock::artifacts::arrow {
namespace {

// Numbers of the union `Type` in Arrow's Schema.fbs.
enum : std::uint8_t {
    fbs_null = 1,
    fbs_int,
    fbs_floating,
    fbs_binary,
    fbs_utf8,
    fbs_bool,
    fbs_decimal,
    fbs_date,
    fbs_time,
    fbs_timestamp,
    fbs_interval,
    fbs_list,
    fbs_struct,
    fbs_union,
    fbs_fixed_binary,
    fbs_fixed_list,
    fbs_map,
    fbs_duration,
    fbs_large_binary,
    fbs_large_utf8,
    fbs_large_list
};

tl::unexpected<Error> refused(std::string_view what) {
    return fail(ErrorCode::not_supported, "the table's Arrow file has " + std::string(what),
                "download the artifact and read it with pyarrow");
}

Result<TimeUnit> unit_from(std::int16_t unit) {
    if (unit < 0 || unit > 3) return wrong_file("an unknown unit of time");
    return static_cast<TimeUnit>(unit);
}

Result<Type> int_type(const FlatTable& table) {
    Type type;
    type.kind = TypeKind::integer;
    const auto bits = table.scalar<std::uint32_t>(0, 0);
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return wrong_file("odd integers");
    type.width_bytes = bits / 8;
    type.is_signed = table.scalar<std::uint8_t>(1, 0) != 0;
    return type;
}

Result<Type> floating_type(const FlatTable& table) {
    Type type;
    type.kind = TypeKind::floating;
    const auto precision = table.scalar<std::uint16_t>(0, 0);
    if (precision > 2) return wrong_file("odd floating point numbers");
    type.width_bytes = std::size_t{2} << precision;
    return type;
}

Result<Type> decimal_type(const FlatTable& table) {
    Type type;
    type.kind = TypeKind::decimal;
    type.scale = static_cast<std::int32_t>(table.scalar<std::uint32_t>(1, 0));
    const auto bits = table.scalar<std::uint32_t>(2, 128);
    if (bits == 256) return refused("decimals of 256 bits");
    if (bits != 32 && bits != 64 && bits != 128) return wrong_file("odd decimals");
    // More zeros than digits are no number that anybody writes down.
    if (type.scale < -76 || type.scale > 76) return wrong_file("decimals with an odd scale");
    type.width_bytes = bits / 8;
    return type;
}

Result<Type> clock_type(TypeKind kind, const FlatTable& table, std::uint16_t fallback) {
    Type type;
    type.kind = kind;
    type.width_bytes = 8;
    CB_TRY_ASSIGN(unit,
                  unit_from(static_cast<std::int16_t>(table.scalar<std::uint16_t>(0, fallback))));
    type.unit = unit;
    return type;
}

Result<Type> time_type(const FlatTable& table) {
    CB_TRY_ASSIGN(type, clock_type(TypeKind::time, table, 1));
    const auto bits = table.scalar<std::uint32_t>(1, 32);
    if (bits != 32 && bits != 64) return wrong_file("odd times");
    type.width_bytes = bits / 8;
    return type;
}

Result<Type> timestamp_type(const FlatTable& table) {
    CB_TRY_ASSIGN(type, clock_type(TypeKind::timestamp, table, 0));
    type.zone = one_line(table.text(1), 64);
    return type;
}

Result<Type> date_type(const FlatTable& table) {
    Type type;
    type.kind = TypeKind::date;
    type.in_days = table.scalar<std::uint16_t>(0, 1) == 0;
    type.width_bytes = type.in_days ? 4 : 8;
    return type;
}

Result<Type> interval_type(const FlatTable& table) {
    if (table.scalar<std::uint16_t>(0, 0) != 2) return refused("intervals of an old kind");
    Type type;
    type.kind = TypeKind::month_interval;
    type.width_bytes = 16;
    return type;
}

Result<Type> sized_type(TypeKind kind, std::uint32_t size) {
    Type type;
    type.kind = kind;
    if (size > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
        return wrong_file("a negative size");
    }
    if (kind == TypeKind::fixed_binary) {
        type.width_bytes = size;
    } else {
        type.items = size;
    }
    return type;
}

Type varying(TypeKind kind, std::size_t offset_bytes) {
    Type type;
    type.kind = kind;
    type.offset_bytes = offset_bytes;
    return type;
}

Result<Type> parse_type(std::uint8_t number, const FlatTable& table) {
    switch (number) {
        case fbs_null:
            return varying(TypeKind::null, 4);
        case fbs_bool:
            return varying(TypeKind::boolean, 4);
        case fbs_int:
            return int_type(table);
        case fbs_floating:
            return floating_type(table);
        case fbs_decimal:
            return decimal_type(table);
        case fbs_date:
            return date_type(table);
        case fbs_time:
            return time_type(table);
        case fbs_timestamp:
            return timestamp_type(table);
        case fbs_duration:
            return clock_type(TypeKind::duration, table, 1);
        case fbs_interval:
            return interval_type(table);
        case fbs_utf8:
            return varying(TypeKind::text, 4);
        case fbs_large_utf8:
            return varying(TypeKind::text, 8);
        case fbs_binary:
            return varying(TypeKind::binary, 4);
        case fbs_large_binary:
            return varying(TypeKind::binary, 8);
        case fbs_fixed_binary:
            return sized_type(TypeKind::fixed_binary, table.scalar<std::uint32_t>(0, 0));
        case fbs_list:
            return varying(TypeKind::list, 4);
        case fbs_large_list:
            return varying(TypeKind::list, 8);
        case fbs_fixed_list:
            return sized_type(TypeKind::fixed_list, table.scalar<std::uint32_t>(0, 0));
        case fbs_struct:
            return varying(TypeKind::structure, 4);
        case fbs_map:
            return varying(TypeKind::map, 4);
        default:
            return refused("a type that is not read here (number " + std::to_string(number) + ")");
    }
}

std::size_t buffers_of(const Field& field) {
    if (field.dictionary) return 2;
    switch (field.type.kind) {
        case TypeKind::null:
            return 0;
        case TypeKind::fixed_list:
        case TypeKind::structure:
            return 1;
        case TypeKind::text:
        case TypeKind::binary:
            return 3;
        default:
            return 2;
    }
}

// Gives each field its places, in pre-order.
void lay_out(Field& field, std::size_t& nodes, std::size_t& buffers) {
    field.node = nodes++;
    field.buffer = buffers;
    buffers += buffers_of(field);
    for (Field& child : field.children) lay_out(child, nodes, buffers);
}

class SchemaParser {
  public:
    Result<Schema> run(const FlatTable& table) {
        if (!table) return wrong_file("it has no schema");
        if (table.scalar<std::uint16_t>(0, 0) != 0) return refused("big-endian numbers");
        const FlatVector fields = table.vector(1, 4);
        if (fields.size() > limits::table_columns_max) return wrong_file("too many columns");
        Schema schema;
        schema.fields.reserve(fields.size());
        for (std::size_t i = 0; i < fields.size(); ++i) {
            CB_TRY_ASSIGN(field, parse(fields.table(i), 0));
            lay_out(field, schema.nodes, schema.buffers);
            schema.fields.push_back(std::move(field));
        }
        return schema;
    }

  private:
    Result<Field> parse(const FlatTable& table, std::size_t depth) {
        if (!table) return wrong_file("a field is broken");
        if (depth > nesting_max || ++count_ > fields_max)
            return wrong_file("it is nested too deeply");
        Field field;
        field.name = take_text(table, 0);
        CB_TRY_ASSIGN(type, parse_type(table.scalar<std::uint8_t>(2, 0), table.table(3)));
        field.type = std::move(type);
        take_metadata(table.vector(6, 4), field);
        const FlatVector children = table.vector(5, 4);
        for (std::size_t i = 0; i < children.size(); ++i) {
            CB_TRY_ASSIGN(child, parse(children.table(i), depth + 1));
            field.children.push_back(std::move(child));
        }
        CB_TRY(check_children(field));
        if (text_bytes_ > metadata_max_bytes) return wrong_file("names and notes without end");
        if (const FlatTable encoding = table.table(4)) {
            CB_TRY(take_dictionary(encoding, field));
        }
        return field;
    }

    // Texts may lie over each other in the file, so their sum counts and not the file's size.
    std::string take_text(const FlatTable& table, std::size_t slot) {
        const std::string_view text = table.text(slot).substr(0, limits::table_text_max_bytes);
        text_bytes_ += text.size();
        return text_bytes_ > metadata_max_bytes ? std::string() : std::string(text);
    }

    void take_metadata(const FlatVector& pairs, Field& field) {
        for (std::size_t i = 0; i < std::min(pairs.size(), metadata_pairs_max); ++i) {
            const FlatTable pair = pairs.table(i);
            std::string key = take_text(pair, 0);
            field.metadata.emplace_back(std::move(key), take_text(pair, 1));
        }
    }

    static Result<void> check_children(const Field& field) {
        const std::size_t count = field.children.size();
        switch (field.type.kind) {
            case TypeKind::structure:
                return {};
            case TypeKind::list:
            case TypeKind::fixed_list:
                if (count != 1) return wrong_file("a list without the type of its items");
                return {};
            case TypeKind::map:
                if (count != 1 || field.children[0].type.kind != TypeKind::structure ||
                    field.children[0].children.size() != 2) {
                    return wrong_file("a map without keys and values");
                }
                return {};
            default:
                if (count != 0) return wrong_file("a plain type with children");
                return {};
        }
    }

    static bool has_dictionary(const Field& field) {
        if (field.dictionary) return true;
        for (const Field& child : field.children) {
            if (has_dictionary(child)) return true;
        }
        return false;
    }

    static Result<void> take_dictionary(const FlatTable& encoding, Field& field) {
        if (has_dictionary(field)) return refused("dictionaries in dictionaries");
        Field values;
        values.name = field.name;
        values.type = field.type;
        values.children = std::move(field.children);
        field.children.clear();
        std::size_t nodes = 0;
        std::size_t buffers = 0;
        lay_out(values, nodes, buffers);
        field.dictionary_values.push_back(std::move(values));
        field.dictionary = static_cast<std::int64_t>(encoding.scalar<std::uint64_t>(0, 0));
        if (const FlatTable index = encoding.table(1)) {
            CB_TRY_ASSIGN(type, int_type(index));
            field.index_type = std::move(type);
        } else {
            field.index_type.kind = TypeKind::integer;
            field.index_type.width_bytes = 4;
        }
        return {};
    }

    std::size_t count_ = 0;
    std::size_t text_bytes_ = 0;
};

}  // namespace

tl::unexpected<Error> wrong_file(std::string_view what) {
    return fail(ErrorCode::guest_protocol, "the table's Arrow file: " + std::string(what));
}

std::string_view Field::said(std::string_view key) const {
    for (const auto& [known, value] : metadata) {
        if (known == key) return value;
    }
    return {};
}

void count_layout(const Field& field, std::size_t& nodes, std::size_t& buffers) {
    ++nodes;
    buffers += buffers_of(field);
    for (const Field& child : field.children) count_layout(child, nodes, buffers);
}

Result<Schema> parse_schema(const FlatTable& schema) {
    return SchemaParser().run(schema);
}

}  // namespace cellblock::artifacts::arrow
