#include "artifacts/table_columns.h"

namespace cellblock::artifacts {

ColumnKind kind_of(const arrow::Field& field) {
    using arrow::TypeKind;
    if (field.dictionary) return ColumnKind::category;
    switch (field.type.kind) {
        case TypeKind::null:
            return ColumnKind::null;
        case TypeKind::boolean:
            return ColumnKind::boolean;
        case TypeKind::integer:
            return ColumnKind::integer;
        case TypeKind::floating:
            return ColumnKind::floating;
        case TypeKind::decimal:
            return ColumnKind::decimal;
        case TypeKind::date:
            return ColumnKind::date;
        case TypeKind::time:
            return ColumnKind::time;
        case TypeKind::timestamp:
            return ColumnKind::datetime;
        case TypeKind::duration:
        case TypeKind::month_interval:
            return ColumnKind::duration;
        case TypeKind::text:
            return ColumnKind::text;
        case TypeKind::binary:
        case TypeKind::fixed_binary:
            return ColumnKind::binary;
        case TypeKind::list:
        case TypeKind::fixed_list:
            return ColumnKind::list;
        case TypeKind::structure:
        case TypeKind::map:
            return ColumnKind::record;
    }
    return ColumnKind::other;
}

bool is_index(const arrow::Field& field) {
    return field.said("cellblock.index") == "1";
}

}  // namespace cellblock::artifacts
