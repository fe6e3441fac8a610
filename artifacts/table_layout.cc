#include "artifacts/table_layout.h"

#include <algorithm>

#include "artifacts/text.h"

namespace cellblock::artifacts {
namespace {

// Both ends of [0, count): two thirds of `keep` from the front.
std::vector<std::size_t> both_ends(std::size_t count, std::size_t keep) {
    std::vector<std::size_t> places;
    if (count <= keep) {
        for (std::size_t i = 0; i < count; ++i) places.push_back(i);
        return places;
    }
    const std::size_t front = (keep * 2 + 2) / 3;
    for (std::size_t i = 0; i < front; ++i) places.push_back(i);
    for (std::size_t i = count - (keep - front); i < count; ++i) places.push_back(i);
    return places;
}

}  // namespace

TableLayout lay_out(const Table& table, std::size_t max_rows, std::size_t max_columns) {
    TableLayout layout;
    layout.columns = both_ends(table.columns.size(), max_columns);
    layout.column_gap = layout.columns.size();
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
        if (layout.columns[i] != i) {
            layout.column_gap = i;
            break;
        }
    }
    layout.rows = both_ends(table.preview.size(), max_rows);
    const bool more_rows = !table.rows_total || *table.rows_total > table.preview.size();
    for (std::size_t i = 0; i < layout.rows.size(); ++i) {
        const std::size_t place = layout.rows[i];
        const bool jump = i > 0 && place != layout.rows[i - 1] + 1;
        if (jump || (more_rows && place == table.head_rows)) layout.gaps.push_back(i);
    }
    const bool ends_early = table.head_rows >= table.preview.size();
    if (more_rows && ends_early && !layout.rows.empty()) layout.gaps.push_back(layout.rows.size());
    return layout;
}

std::string missing_text(const Table& table, const TableLayout& layout) {
    const std::uint64_t columns = table.columns_total;
    const bool rows_missing = !table.rows_total || layout.rows.size() < *table.rows_total;
    const bool columns_missing = layout.columns.size() < columns;
    if (!rows_missing && !columns_missing) return "";
    std::string text = "Showing ";
    if (rows_missing) {
        text += with_thousands(layout.rows.size()) + " of ";
        text += table.rows_total ? with_thousands(*table.rows_total)
                                 : "at least " + with_thousands(table.preview.size());
        text += " rows";
    }
    if (columns_missing) {
        if (rows_missing) text += " and ";
        text +=
            with_thousands(layout.columns.size()) + " of " + with_thousands(columns) + " columns";
    }
    return text + ".";
}

std::string shown_cell(const Json& cell, std::size_t max_bytes) {
    return one_line(cell_text(cell), max_bytes);
}

}  // namespace cellblock::artifacts
