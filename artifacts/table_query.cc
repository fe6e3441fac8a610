#include "artifacts/table_query.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "artifacts/arrow/cell.h"
#include "artifacts/table_columns.h"
#include "artifacts/table_limits.h"
#include "artifacts/text.h"

namespace cellblock::artifacts {
namespace {

constexpr std::array operators = {
    std::pair{std::string_view("eq"), FilterOperator::eq},
    std::pair{std::string_view("ne"), FilterOperator::ne},
    std::pair{std::string_view("lt"), FilterOperator::lt},
    std::pair{std::string_view("le"), FilterOperator::le},
    std::pair{std::string_view("gt"), FilterOperator::gt},
    std::pair{std::string_view("ge"), FilterOperator::ge},
    std::pair{std::string_view("contains"), FilterOperator::contains},
    std::pair{std::string_view("isnull"), FilterOperator::is_null},
    std::pair{std::string_view("notnull"), FilterOperator::not_null},
};

std::optional<FilterOperator> operator_from(std::string_view name) {
    for (const auto& [known, op] : operators) {
        if (known == name) return op;
    }
    return std::nullopt;
}

bool needs_value(FilterOperator op) {
    return op != FilterOperator::is_null && op != FilterOperator::not_null;
}

tl::unexpected<Error> unknown_column(std::string_view name) {
    return fail(ErrorCode::invalid_argument, "there is no column '" + one_line(name, 100) + "'",
                "the answer without parameters lists the columns");
}

class Resolver {
  public:
    explicit Resolver(const arrow::Schema& schema) : schema_(schema) {}

    std::optional<std::size_t> find(std::string_view name) const {
        for (std::size_t i = 0; i < schema_.fields.size(); ++i) {
            if (schema_.fields[i].name == name) return i;
        }
        return std::nullopt;
    }

    // A name with a comma of its own is tried before it is taken apart.
    Result<void> add_columns(std::string_view text, std::vector<std::size_t>& columns) const {
        while (true) {
            if (const auto whole = find(text)) {
                columns.push_back(*whole);
                return {};
            }
            std::size_t comma = text.find(',');
            std::optional<std::size_t> found;
            while (comma != std::string_view::npos) {
                found = find(text.substr(0, comma));
                if (found) break;
                comma = text.find(',', comma + 1);
            }
            if (!found) return unknown_column(text);
            columns.push_back(*found);
            text.remove_prefix(comma + 1);
        }
    }

    Result<ResolvedQuery::Sort> sort(std::string_view text) const {
        ResolvedQuery::Sort sort;
        if (text.starts_with('-')) {
            if (const auto column = find(text.substr(1))) {
                sort.column = *column;
                sort.direction = SortDirection::descending;
                return sort;
            }
        }
        const auto column = find(text);
        if (!column) return unknown_column(text);
        sort.column = *column;
        return sort;
    }

    // Names and values may have colons: the first that stands before an operator, with a column's
    // name before it, divides.
    Result<ResolvedQuery::Filter> filter(std::string_view text) const {
        bool has_operator = false;
        for (std::size_t at = text.find(':'); at != std::string_view::npos;
             at = text.find(':', at + 1)) {
            const std::size_t end = std::min(text.find(':', at + 1), text.size());
            const auto op = operator_from(text.substr(at + 1, end - at - 1));
            if (!op || (needs_value(*op) && end == text.size())) continue;
            has_operator = true;
            const auto column = find(text.substr(0, at));
            if (!column) continue;
            ResolvedQuery::Filter filter;
            filter.column = *column;
            filter.op = *op;
            if (end < text.size()) filter.value = std::string(text.substr(end + 1));
            return filter;
        }
        if (has_operator) return unknown_column(text.substr(0, text.find(':')));
        return fail(ErrorCode::invalid_argument,
                    "'filter' must be column:operator:value, not '" + one_line(text, 100) + "'",
                    "operators are eq ne lt le gt ge contains isnull notnull");
    }

  private:
    const arrow::Schema& schema_;
};

// Rows [first, first + count), each as a JSON list.
Result<void> append_run(arrow::ArrowFile& file, arrow::CellWriter& cells,
                        const std::vector<std::size_t>& columns, std::uint64_t first,
                        std::uint64_t count, std::size_t& budget, std::string& out) {
    std::vector<arrow::Slice> slices;
    for (const std::size_t column : columns) {
        CB_TRY_ASSIGN(slice, file.read(column, first, count, budget));
        slices.push_back(std::move(slice));
    }
    for (std::uint64_t row = 0; row < count; ++row) {
        if (out.back() == ']') out += ',';
        out += '[';
        for (std::size_t i = 0; i < slices.size(); ++i) {
            if (i > 0) out += ',';
            cells.append_json(out, slices[i], row);
        }
        out += ']';
        if (out.size() > limits::table_page_max_bytes) {
            return fail(ErrorCode::too_large, "this page is larger than an answer may be",
                        "ask for a smaller 'limit' or for fewer 'columns'");
        }
    }
    return {};
}

std::string columns_json(const arrow::Schema& schema, const std::vector<std::size_t>& columns) {
    std::string json = "[";
    for (const std::size_t index : columns) {
        const arrow::Field& field = schema.fields[index];
        if (json.size() > 1) json += ',';
        json += "{\"name\":";
        arrow::append_json_string(json, field.name);
        json += ",\"type\":";
        arrow::append_json_string(json, arrow::type_name(field));
        json += ",\"kind\":\"" + std::string(to_string(kind_of(field))) + "\"";
        if (is_index(field)) json += ",\"index\":true";
        json += '}';
    }
    return json + "]";
}

}  // namespace

Result<ResolvedQuery> resolve(const RowQuery& query, const arrow::Schema& schema) {
    const Resolver resolver(schema);
    ResolvedQuery resolved;
    resolved.offset = query.offset;
    resolved.limit = query.limit;
    if (query.sort.size() > limits::table_sort_columns_max ||
        query.filter.size() > limits::table_filters_max) {
        return fail(ErrorCode::invalid_argument,
                    "more conditions or sort columns than are allowed");
    }
    for (const std::string& text : query.columns) {
        CB_TRY(resolver.add_columns(text, resolved.columns));
    }
    if (resolved.columns.size() > limits::table_columns_max) {
        return fail(ErrorCode::invalid_argument, "the same columns are asked for many times");
    }
    if (query.columns.empty()) {
        resolved.columns.resize(schema.fields.size());
        std::iota(resolved.columns.begin(), resolved.columns.end(), std::size_t{0});
    }
    for (const std::string& text : query.sort) {
        CB_TRY_ASSIGN(sort, resolver.sort(text));
        resolved.sort.push_back(sort);
    }
    for (const std::string& text : query.filter) {
        CB_TRY_ASSIGN(filter, resolver.filter(text));
        resolved.filter.push_back(std::move(filter));
    }
    return resolved;
}

Result<std::string> rows_as_json(arrow::ArrowFile& file, const RowQuery& query) {
    CB_TRY_ASSIGN(resolved, resolve(query, file.schema()));
    CB_TRY_ASSIGN(selected, select_rows(file, resolved));
    std::string json = "{\"total\":" + std::to_string(file.rows()) +
                       ",\"matched\":" + std::to_string(selected.matched) +
                       ",\"offset\":" + std::to_string(query.offset) +
                       ",\"limit\":" + std::to_string(query.limit) +
                       ",\"columns\":" + columns_json(file.schema(), resolved.columns) +
                       ",\"rows\":[";
    arrow::CellWriter cells(limits::table_cell_max_bytes);
    std::size_t budget = arrow::read_max_bytes;
    for (std::size_t i = 0; i < selected.rows.size();) {
        // Neighbours are read together, as far as their batch goes.
        const std::uint64_t first = selected.rows[i];
        const std::uint64_t together = file.rows_together(first);
        std::size_t count = 1;
        while (count < together && i + count < selected.rows.size() &&
               selected.rows[i + count] == first + count) {
            ++count;
        }
        CB_TRY(append_run(file, cells, resolved.columns, first, count, budget, json));
        i += count;
    }
    return json + "]}";
}

}  // namespace cellblock::artifacts
