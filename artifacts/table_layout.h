// Which rows and columns of a table are shown when not all of them fit, as texts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "artifacts/table.h"

namespace cellblock::artifacts {

struct TableLayout {
    std::vector<std::size_t> columns;  // places in Table::columns, ascending
    std::vector<std::size_t> rows;     // places in Table::preview, ascending
    // Before which of `rows` a line of "…" stands; rows.size() when rows are missing at the end.
    // No gap: nothing is missing.
    std::vector<std::size_t> gaps;
    // In front of which of `columns` a column of "…" stands; columns.size() when none is missing.
    std::size_t column_gap = 0;
};

// At most so many rows and columns, both ends kept.
TableLayout lay_out(const Table& table, std::size_t max_rows, std::size_t max_columns);

// "Showing 15 of 2,000,000 rows and 20 of 40 columns." or "" when all is shown.
std::string missing_text(const Table& table, const TableLayout& layout);

// A cell as one line of at most so many bytes; a missing value as "" (floats: shortest exact form).
std::string shown_cell(const Json& cell, std::size_t max_bytes);

}  // namespace cellblock::artifacts
