// type_name(): what people and clients call a column's type.
#include <array>

#include "artifacts/arrow/schema.h"

namespace cellblock::artifacts::arrow {
namespace {

std::string_view unit_name(TimeUnit unit) {
    static constexpr std::array<std::string_view, 4> names = {"s", "ms", "us", "ns"};
    return names[static_cast<std::size_t>(unit)];
}

std::string with_unit(std::string_view name, const Type& type) {
    std::string text = std::string(name) + "[" + std::string(unit_name(type.unit));
    if (!type.zone.empty()) text += ", " + type.zone;
    return text + "]";
}

std::string plain_name(const Field& field) {
    const Type& type = field.type;
    const std::string bits = std::to_string(type.width_bytes * 8);
    switch (type.kind) {
        case TypeKind::null:
            return "null";
        case TypeKind::boolean:
            return "bool";
        case TypeKind::integer:
            return (type.is_signed ? "int" : "uint") + bits;
        case TypeKind::floating:
            return "float" + bits;
        case TypeKind::decimal:
            return "decimal(scale " + std::to_string(type.scale) + ")";
        case TypeKind::date:
            return "date";
        case TypeKind::time:
            return with_unit("time", type);
        case TypeKind::timestamp:
            return with_unit("timestamp", type);
        case TypeKind::duration:
            return with_unit("duration", type);
        case TypeKind::month_interval:
            return "interval";
        case TypeKind::text:
            return "text";
        case TypeKind::binary:
        case TypeKind::fixed_binary:
            return "binary";
        case TypeKind::list:
        case TypeKind::fixed_list:
            return "list<" + type_name(field.children[0]) + ">";
        case TypeKind::structure:
            return "struct";
        case TypeKind::map:
            return "map";
    }
    return "unknown";
}

}  // namespace

std::string type_name(const Field& field) {
    if (!field.dictionary_values.empty()) {
        return "category<" + type_name(field.dictionary_values[0]) + ">";
    }
    return plain_name(field);
}

}  // namespace cellblock::artifacts::arrow
