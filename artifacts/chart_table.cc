#include "artifacts/chart_table.h"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "charts/rows.h"

namespace cellblock::artifacts {
namespace {

// What is known of a column after all rows went by.
struct Seen {
    std::optional<std::string> first;
    bool is_constant = true;
    bool is_numeric = true;

    void take(const std::string& cell) {
        if (!first) first = cell;
        is_constant = is_constant && cell == *first;
        is_numeric = is_numeric && (cell.empty() || charts::reads_as_number(cell));
    }
};

constexpr std::size_t context_columns = 3;  // panel, layer, kind: the others are data

using Cells = std::vector<std::string>;

std::vector<Json> kept_cells(const Cells& cells, const std::vector<std::size_t>& places) {
    std::vector<Json> row;
    for (const std::size_t place : places) {
        row.push_back(cells[place].empty() ? Json() : Json(cells[place]));
    }
    return row;
}

}  // namespace

Table chart_table(const charts::Figure& figure, std::size_t max_rows) {
    const charts::DataRows rows(figure);
    const std::size_t head_max = max_rows - max_rows / 2, tail_max = max_rows / 2;
    std::vector<Seen> seen(rows.columns().size());
    std::vector<Cells> head;
    std::deque<Cells> tail;
    std::uint64_t count = 0;
    rows.for_each([&](const Cells& cells) {
        ++count;
        for (std::size_t i = 0; i < cells.size(); ++i) seen[i].take(cells[i]);
        if (head.size() < head_max) {
            head.push_back(cells);
        } else {
            tail.push_back(cells);
            if (tail.size() > tail_max) tail.pop_front();
        }
    });
    std::vector<std::size_t> places;
    Table table;
    table.type = "chart";
    table.rows_total = count;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (i < context_columns && seen[i].is_constant) continue;
        places.push_back(i);
        Column column;
        column.name = rows.columns()[i];
        column.kind = seen[i].is_numeric ? ColumnKind::floating : ColumnKind::text;
        table.columns.push_back(std::move(column));
    }
    table.columns_total = table.columns.size();
    for (const Cells& cells : head) table.preview.push_back(kept_cells(cells, places));
    table.head_rows = table.preview.size();
    for (const Cells& cells : tail) table.preview.push_back(kept_cells(cells, places));
    return table;
}

}  // namespace cellblock::artifacts
