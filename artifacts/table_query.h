// Which rows of a stored table a client asks for: a page, some columns, an order, conditions.
//
// Works on the table's Arrow file without loading it: memory and work are bounded by the limits
// below, and what would cross them is too_large with advice. Blocking: for worker threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/arrow/file.h"
#include "base/error.h"

namespace cellblock::artifacts {

enum class FilterOperator { eq, ne, lt, le, gt, ge, contains, is_null, not_null };

enum class SortDirection { ascending, descending };

// As a client writes it; which column is meant is known when the table is.
struct RowQuery {
    std::uint64_t offset = 0;
    std::size_t limit = 100;
    std::vector<std::string> columns;  // each a name, or several with commas; none: all
    std::vector<std::string> sort;     // "amount" or "-amount", the most important first
    std::vector<std::string> filter;   // "column:op:value"; all must hold

    RowQuery() = default;
};

// A query in the terms of one table.
struct ResolvedQuery {
    struct Sort {
        std::size_t column = 0;
        SortDirection direction = SortDirection::ascending;
    };
    struct Filter {
        std::size_t column = 0;
        FilterOperator op = FilterOperator::eq;
        std::string value;
    };
    std::uint64_t offset = 0;
    std::size_t limit = 0;
    std::vector<std::size_t> columns;
    std::vector<Sort> sort;
    std::vector<Filter> filter;

    ResolvedQuery() = default;
};

// invalid_argument names what is wrong with the query.
Result<ResolvedQuery> resolve(const RowQuery& query, const arrow::Schema& schema);

// The numbers of the rows that a query names, in its order.
struct SelectedRows {
    std::uint64_t matched = 0;        // before offset and limit
    std::vector<std::uint64_t> rows;  // the page

    SelectedRows() = default;
};
Result<SelectedRows> select_rows(arrow::ArrowFile& file, const ResolvedQuery& query);

// The answer of GET /artifacts/{id}/rows:
// {"total", "matched", "offset", "limit", "columns": [{"name", "type", "kind"}], "rows": [[cell]]}.
Result<std::string> rows_as_json(arrow::ArrowFile& file, const RowQuery& query);

}  // namespace cellblock::artifacts
