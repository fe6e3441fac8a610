#include "artifacts/aligned_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "artifacts/table_layout.h"
#include "artifacts/text.h"

namespace cellblock::artifacts {
namespace {

constexpr std::string_view separator = "  ";

struct Grid {
    std::vector<std::vector<std::string>> lines;  // the header first
    std::vector<std::size_t> widths;
    std::vector<bool> right;
};

// One line of at most `width` terminal columns.
std::string fitted(const std::string& text, std::size_t width) {
    // A character takes four bytes at most, and at least one column unless it is combining.
    std::string line = one_line(text, width * 4);
    if (display_width(line) <= width) return line;
    while (!line.empty() && display_width(line) + 1 > width) {
        line = std::string(cut_utf8(line, line.size() - 1));
    }
    return line + "…";
}

void add_cell(Grid& grid, std::vector<std::string>& line, std::string text) {
    const std::size_t place = line.size();
    if (grid.widths.size() <= place) grid.widths.resize(place + 1, 0);
    grid.widths[place] = std::max(grid.widths[place], display_width(text));
    line.push_back(std::move(text));
}

Grid grid_of(const Table& table, const TableLayout& layout, std::size_t cell_width) {
    Grid grid;
    std::vector<std::string> header;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
        const Column& column = table.columns[layout.columns[i]];
        if (i == layout.column_gap) {
            add_cell(grid, header, "…");
            grid.right.push_back(false);
        }
        add_cell(grid, header, fitted(column.name, cell_width));
        grid.right.push_back(is_numeric(column.kind));
    }
    grid.lines.push_back(std::move(header));
    std::size_t gap = 0;
    for (std::size_t r = 0; r <= layout.rows.size(); ++r) {
        if (gap < layout.gaps.size() && layout.gaps[gap] == r) {
            ++gap;
            grid.lines.emplace_back(grid.widths.size(), "…");
        }
        if (r == layout.rows.size()) break;
        const auto& cells = table.preview[layout.rows[r]];
        std::vector<std::string> line;
        for (std::size_t i = 0; i < layout.columns.size(); ++i) {
            if (i == layout.column_gap) add_cell(grid, line, "…");
            add_cell(grid, line, fitted(cell_text(cells[layout.columns[i]]), cell_width));
        }
        grid.lines.push_back(std::move(line));
    }
    return grid;
}

std::size_t width_of(const Grid& grid) {
    std::size_t width = 0;
    for (const std::size_t column : grid.widths) width += column + separator.size();
    return width > separator.size() ? width - separator.size() : width;
}

std::string text_of(const Grid& grid) {
    std::string text;
    for (const auto& line : grid.lines) {
        std::string row;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (i > 0) row += separator;
            const std::size_t padding = grid.widths[i] - display_width(line[i]);
            if (grid.right[i]) row += std::string(padding, ' ');
            row += line[i];
            if (!grid.right[i]) row += std::string(padding, ' ');
        }
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    }
    return text;
}

}  // namespace

std::string to_aligned_text(const Table& table, const AlignedOptions& options) {
    // Fewer columns until the line fits; the last two are cut by the terminal if need be.
    std::size_t columns = table.columns.size();
    TableLayout layout = lay_out(table, options.max_rows, columns);
    std::string text;
    if (columns > 0) {
        Grid grid = grid_of(table, layout, options.max_cell_width);
        while (columns > 2 && width_of(grid) > options.width) {
            // A first large step by the mean width, then one by one.
            const std::size_t mean = width_of(grid) / columns + 1;
            columns = std::min(columns - 1, std::max<std::size_t>(2, options.width * 2 / mean));
            layout = lay_out(table, options.max_rows, columns);
            grid = grid_of(table, layout, options.max_cell_width);
        }
        text = text_of(grid);
    }
    const std::string missing = missing_text(table, layout);
    text += missing.empty() ? shape_text(table) : missing;
    if (table.partial) text += " Not captured in full: " + table.reason + ".";
    return text + "\n";
}

}  // namespace cellblock::artifacts
