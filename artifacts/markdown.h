// A table as a GitHub Markdown table. Cells and names are a guest's text: escaped, so that they can
// neither end a cell nor start markup. What is left out is said in words below the table.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "artifacts/table.h"

namespace cellblock::artifacts {

struct MarkdownOptions {
    std::size_t max_bytes = 16 * 1024;
    std::size_t max_rows = 30;
    std::size_t max_columns = 30;
    std::size_t max_cell_bytes = 120;

    MarkdownOptions() = default;
};

// Rows, then columns, then cells shrink until it fits into max_bytes; when not even a small table
// does, the shape alone is told.
std::string to_markdown(const Table& table, const MarkdownOptions& options = {});

// Shape, type and per column dtype, nulls and statistics, as a list within `max_bytes`.
std::string columns_as_markdown(const Table& table, std::size_t max_bytes);

// One line of text that Markdown shows as it is; underscores inside words stay bare.
std::string escape_markdown(std::string_view text);

}  // namespace cellblock::artifacts
