// Limits of paging and converting stored tables, each with its reason.
#pragma once

#include <cstdint>

#include "base/limits.h"

namespace cellblock::limits {

// Rows of one page, and its size: what a browser shows and an answer may hold in memory.
inline constexpr std::size_t table_page_rows_max = 1000;
inline constexpr std::size_t table_page_rows_default = 100;
inline constexpr std::size_t table_page_max_bytes = 16 * MiB;
// A cell of a page; longer ones are cut and say so with "…". Conversions have them whole.
inline constexpr std::size_t table_cell_max_bytes = 4 * KiB;
inline constexpr std::size_t table_sort_columns_max = 4;
inline constexpr std::size_t table_filters_max = 16;
// Work of one filtered or sorted page: cells looked at (about 20 million a second), bytes read, and
// memory for sort keys (a number takes 29 bytes).
inline constexpr std::uint64_t table_scan_max_cells = 40'000'000;
inline constexpr std::uint64_t table_scan_max_bytes = 1 * GiB;
inline constexpr std::size_t table_sort_max_bytes = 192 * MiB;
// Rows of a table as Markdown: for people and LLMs, who want no more.
inline constexpr std::size_t table_markdown_rows_default = 100;
// A table as CSV, JSON or HTML; a guest can point many cells at one long text.
inline constexpr std::uint64_t table_converted_max_bytes = 8 * GiB;
// A piece of it in memory.
inline constexpr std::size_t table_piece_bytes = 128 * KiB;
// Conversions in sandboxes at once: each is a whole machine for half a minute.
inline constexpr std::size_t table_conversions_max = 2;
static_assert(table_page_rows_default <= table_page_rows_max);

}  // namespace cellblock::limits
