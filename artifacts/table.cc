#include "artifacts/table.h"

#include <algorithm>
#include <array>

#include "artifacts/text.h"
#include "base/base64.h"
#include "base/limits.h"

namespace cellblock::artifacts {
namespace {

constexpr std::array kind_names = {
    std::pair{ColumnKind::integer, std::string_view("integer")},
    std::pair{ColumnKind::floating, std::string_view("floating")},
    std::pair{ColumnKind::boolean, std::string_view("boolean")},
    std::pair{ColumnKind::text, std::string_view("text")},
    std::pair{ColumnKind::datetime, std::string_view("datetime")},
    std::pair{ColumnKind::date, std::string_view("date")},
    std::pair{ColumnKind::time, std::string_view("time")},
    std::pair{ColumnKind::duration, std::string_view("duration")},
    std::pair{ColumnKind::decimal, std::string_view("decimal")},
    std::pair{ColumnKind::binary, std::string_view("binary")},
    std::pair{ColumnKind::category, std::string_view("category")},
    std::pair{ColumnKind::list, std::string_view("list")},
    std::pair{ColumnKind::record, std::string_view("record")},
    std::pair{ColumnKind::mixed, std::string_view("mixed")},
    std::pair{ColumnKind::null, std::string_view("null")},
    std::pair{ColumnKind::other, std::string_view("other")},
};

ColumnKind kind_from(std::string_view name) {
    for (const auto& [kind, known] : kind_names) {
        if (known == name) return kind;
    }
    return ColumnKind::other;  // a newer guest knows more kinds
}

tl::unexpected<Error> wrong(std::string_view what) {
    return fail(ErrorCode::guest_protocol, "a table from the guest: " + std::string(what));
}

const Json& field(const Json& object, const char* name) {
    static const Json absent;
    const auto at = object.find(name);
    return at == object.end() ? absent : *at;
}

std::string text_field(const Json& object, const char* name) {
    const Json& value = field(object, name);
    if (!value.is_string()) return {};
    return one_line(value.get_ref<const std::string&>(), limits::table_text_max_bytes);
}

std::optional<std::uint64_t> count_of(const Json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (value.is_number_integer() && value.get<std::int64_t>() >= 0) {
        return value.get<std::uint64_t>();
    }
    return std::nullopt;
}

std::optional<std::uint64_t> count_field(const Json& object, const char* name) {
    return count_of(field(object, name));
}

std::optional<double> number_field(const Json& object, const char* name) {
    const Json& value = field(object, name);
    if (value.is_number()) return value.get<double>();
    return std::nullopt;
}

// A cell keeps its line breaks: they are escaped where it is shown.
Json scalar(const Json& value) {
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        return clean_lines(cut_utf8(text, limits::table_text_max_bytes));
    }
    if (value.is_structured()) {
        const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
        return clean_lines(cut_utf8(text, limits::table_text_max_bytes));
    }
    if (value.is_null() || value.is_boolean() || value.is_number()) return value;
    return nullptr;
}

ColumnStats parse_stats(const Json& json) {
    ColumnStats stats;
    const Json& exact = field(json, "exact");
    stats.exact = !exact.is_boolean() || exact.get<bool>();
    stats.min = scalar(field(json, "min"));
    stats.max = scalar(field(json, "max"));
    stats.mean = number_field(json, "mean");
    stats.std_dev = number_field(json, "std");
    stats.distinct = count_field(json, "distinct");
    const Json& top = field(json, "top");
    if (!top.is_array()) return stats;
    for (const Json& pair : top) {
        if (stats.top.size() >= limits::table_top_values_max) break;
        if (!pair.is_array() || pair.size() != 2) continue;
        const auto count = count_of(pair[1]);
        if (count) stats.top.emplace_back(scalar(pair[0]), *count);
    }
    return stats;
}

Column parse_column(const Json& json) {
    Column column;
    column.name = text_field(json, "name");
    column.dtype = text_field(json, "dtype");
    column.note = text_field(json, "note");
    const Json& kind = field(json, "kind");
    if (kind.is_string()) column.kind = kind_from(kind.get_ref<const std::string&>());
    const Json& index = field(json, "index");
    column.is_index = index.is_boolean() && index.get<bool>();
    column.nulls = count_field(json, "nulls");
    const Json& stats = field(json, "stats");
    if (stats.is_object()) column.stats = parse_stats(stats);
    return column;
}

Result<void> parse_columns(const Json& json, Table& table) {
    const Json& columns = field(json, "columns");
    if (!columns.is_array()) return wrong("'columns' must be a list");
    if (columns.size() > limits::table_columns_max) {
        return wrong("it describes " + std::to_string(columns.size()) + " columns; the limit is " +
                     std::to_string(limits::table_columns_max));
    }
    table.columns.reserve(columns.size());
    for (const Json& column : columns) {
        if (!column.is_object()) return wrong("each of 'columns' must be an object");
        table.columns.push_back(parse_column(column));
    }
    table.columns_total =
        std::max<std::uint64_t>(count_field(json, "columns_total").value_or(0), columns.size());
    return {};
}

Result<void> parse_preview(const Json& json, Table& table) {
    const Json& preview = field(json, "preview");
    if (preview.is_null()) return {};
    if (!preview.is_array()) return wrong("'preview' must be a list of rows");
    const std::size_t width = table.columns.size();
    if (preview.size() > limits::table_preview_rows_max ||
        preview.size() * std::max<std::size_t>(width, 1) > limits::table_preview_cells_max) {
        return wrong("'preview' has " + std::to_string(preview.size()) + " rows of " +
                     std::to_string(width) + " cells, which is past its limit");
    }
    for (const Json& row : preview) {
        if (!row.is_array() || row.size() != width) {
            return wrong("each row of 'preview' must be a list of " + std::to_string(width) +
                         " cells");
        }
        std::vector<Json> cells;
        cells.reserve(width);
        for (const Json& cell : row) cells.push_back(scalar(cell));
        table.preview.push_back(std::move(cells));
    }
    const std::size_t rows = table.preview.size();
    table.head_rows = std::min<std::size_t>(count_field(json, "preview_head").value_or(rows), rows);
    if (table.rows_total && *table.rows_total < rows) {
        return wrong("'preview' has more rows than 'rows_total' says");
    }
    return {};
}

Result<void> parse_data(const Json& json, Table& table) {
    const Json& data = field(json, "data");
    if (data.is_null()) return {};
    if (!data.is_object()) return wrong("'data' must be an object or null");
    TableData parsed;
    const Json& format = field(data, "format");
    if (!format.is_string()) return wrong("'data' needs 'format'");
    parsed.format = format.get<std::string>();
    if (parsed.format != "arrow" && parsed.format != "csv") {
        return wrong("'data.format' must be arrow or csv");
    }
    if (const Json& content = field(data, "base64"); content.is_string()) {
        auto bytes = base64_decode(content.get_ref<const std::string&>());
        if (!bytes || bytes->empty()) return wrong("'data.base64' must be a file in base64");
        parsed.content = std::move(*bytes);
    } else {
        parsed.path = text_field(data, "path");
        if (!is_guest_artifact_path(parsed.path)) {
            return wrong("'data' needs 'base64', or a 'path' to a file in " +
                         std::string(guest_artifact_folder));
        }
    }
    parsed.rows = count_field(data, "rows").value_or(table.rows_known());
    table.data = std::move(parsed);
    return {};
}

Json stats_json(const ColumnStats& stats) {
    Json json = Json::object();
    if (!stats.exact) json["exact"] = false;
    if (!stats.min.is_null()) json["min"] = stats.min;
    if (!stats.max.is_null()) json["max"] = stats.max;
    if (stats.mean) json["mean"] = *stats.mean;
    if (stats.std_dev) json["std"] = *stats.std_dev;
    if (stats.distinct) json["distinct"] = *stats.distinct;
    if (!stats.top.empty()) {
        Json top = Json::array();
        for (const auto& [value, count] : stats.top) top.push_back(Json::array({value, count}));
        json["top"] = std::move(top);
    }
    return json;
}

Json column_json(const Column& column) {
    Json json = Json::object();
    json["name"] = column.name;
    json["dtype"] = column.dtype;
    json["kind"] = to_string(column.kind);
    if (column.is_index) json["index"] = true;
    if (column.nulls) json["nulls"] = *column.nulls;
    if (column.stats) json["stats"] = stats_json(*column.stats);
    if (!column.note.empty()) json["note"] = column.note;
    return json;
}

}  // namespace

std::string_view to_string(ColumnKind kind) {
    for (const auto& [value, name] : kind_names) {
        if (value == kind) return name;
    }
    return "other";
}

bool is_numeric(ColumnKind kind) {
    return kind == ColumnKind::integer || kind == ColumnKind::floating ||
           kind == ColumnKind::decimal;
}

bool is_guest_artifact_path(std::string_view path) {
    constexpr std::size_t name_max = 128;
    if (!path.starts_with(guest_artifact_folder)) return false;
    const std::string_view name = path.substr(guest_artifact_folder.size());
    if (name.empty() || name.size() > name_max || name.front() == '.') return false;
    return name.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
               "._-") == std::string_view::npos;
}

Result<Table> parse_table(const Json& json) {
    if (!json.is_object()) return wrong("it must be an object");
    if (field(json, "v") != Json(1)) return wrong("its version 'v' must be 1");
    Table table;
    table.library = text_field(json, "library");
    table.type = text_field(json, "type");
    table.rows_total = count_field(json, "rows_total");
    table.e2b_rows = count_field(json, "e2b_rows");
    const Json& partial = field(json, "partial");
    table.partial = partial.is_boolean() && partial.get<bool>();
    table.reason = text_field(json, "reason");
    CB_TRY(parse_columns(json, table));
    CB_TRY(parse_preview(json, table));
    CB_TRY(parse_data(json, table));
    return table;
}

Json table_summary(const Table& table, std::size_t max_bytes) {
    Json summary = Json::object();
    summary["library"] = table.library;
    summary["type"] = table.type;
    summary["rows"] = table.rows_total ? Json(*table.rows_total) : Json();
    summary["columns"] = table.columns_total;
    summary["partial"] = table.partial;
    if (!table.reason.empty()) summary["reason"] = table.reason;
    if (table.data) summary["data"] = {{"format", table.data->format}, {"rows", table.data->rows}};
    // Half for the columns, the rest for the rows.
    const std::size_t fixed = dump_ascii(summary).size() + 64;
    std::size_t left = max_bytes > fixed ? max_bytes - fixed : 0;
    Json schema = Json::array();
    for (std::size_t i = 0, room = left / 2; i < table.columns.size(); ++i) {
        Json column = column_json(table.columns[i]);
        const std::size_t size = dump_ascii(column).size() + 1;
        if (size > room) break;
        room -= size;
        left -= size;
        schema.push_back(std::move(column));
    }
    const std::size_t listed = schema.size();
    summary["schema"] = std::move(schema);
    Json rows = Json::array();
    std::size_t kept = 0;
    for (const auto& row : table.preview) {
        Json cells = Json(std::vector<Json>(
            row.begin(), row.begin() + static_cast<std::ptrdiff_t>(std::min(listed, row.size()))));
        const std::size_t size = dump_ascii(cells).size() + 1;
        if (size > left) break;
        left -= size;
        rows.push_back(std::move(cells));
        ++kept;
    }
    summary["preview"] = std::move(rows);
    summary["preview_head"] = std::min(kept, table.head_rows);
    return summary;
}

Result<Table> parse_table_summary(const Json& summary) {
    if (!summary.is_object()) return wrong("its summary must be an object");
    Json described = summary;
    described["v"] = 1;
    described["rows_total"] = field(summary, "rows");
    described["columns_total"] = field(summary, "columns");
    described["columns"] = field(summary, "schema");
    described.erase("data");  // says how much there is, not where
    return parse_table(described);
}

std::string shape_text(const Table& table) {
    const auto plural = [](std::uint64_t count, std::string_view noun) {
        return with_thousands(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
    };
    const std::string columns = plural(table.columns_total, "column");
    if (table.rows_total) return plural(*table.rows_total, "row") + " × " + columns;
    return "at least " + plural(table.preview.size(), "row") + " × " + columns;
}

std::string cell_text(const Json& cell) {
    if (cell.is_string()) return cell.get<std::string>();
    if (cell.is_null()) return "";
    return cell.dump();
}

}  // namespace cellblock::artifacts
