#include "artifacts/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "artifacts/table_layout.h"
#include "artifacts/text.h"

namespace cellblock::artifacts {
namespace {

constexpr std::size_t least_rows = 4;
constexpr std::size_t least_columns = 3;
constexpr std::size_t least_cell_bytes = 16;
constexpr std::size_t name_max_bytes = 120;

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80;
}

void add_row(std::string& markdown, const TableLayout& layout, const std::vector<Json>& cells,
             std::size_t max_cell_bytes) {
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
        if (i == layout.column_gap) markdown += "| … ";
        markdown += "| " + escape_markdown(shown_cell(cells[layout.columns[i]], max_cell_bytes));
        markdown += ' ';
    }
    markdown += "|\n";
}

void add_gap(std::string& markdown, const TableLayout& layout) {
    const std::size_t width =
        layout.columns.size() + (layout.column_gap < layout.columns.size() ? 1 : 0);
    for (std::size_t i = 0; i < width; ++i) markdown += "| … ";
    markdown += "|\n";
}

void add_header(std::string& markdown, const Table& table, const TableLayout& layout) {
    std::string rule;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
        if (i == layout.column_gap) {
            markdown += "| … ";
            rule += "| --- ";
        }
        const Column& column = table.columns[layout.columns[i]];
        markdown += "| " + escape_markdown(one_line(column.name, name_max_bytes)) + " ";
        rule += is_numeric(column.kind) ? "| ---: " : "| --- ";
    }
    markdown += "|\n" + rule + "|\n";
}

std::string render(const Table& table, const MarkdownOptions& options) {
    const TableLayout layout = lay_out(table, options.max_rows, options.max_columns);
    std::string markdown;
    if (!layout.columns.empty()) {
        add_header(markdown, table, layout);
        std::size_t gap = 0;
        for (std::size_t i = 0; i <= layout.rows.size(); ++i) {
            if (gap < layout.gaps.size() && layout.gaps[gap] == i) {
                add_gap(markdown, layout);
                ++gap;
            }
            if (i == layout.rows.size()) break;
            add_row(markdown, layout, table.preview[layout.rows[i]], options.max_cell_bytes);
        }
        markdown += '\n';
    }
    const std::string missing = missing_text(table, layout);
    markdown += missing.empty() ? shape_text(table) + "." : missing;
    if (table.partial) markdown += " Not captured in full: " + escape_markdown(table.reason) + ".";
    return markdown + "\n";
}

std::string number_text(double number) {
    return fmt::format("{:.6g}", number);
}

std::string column_line(const Column& column) {
    std::string line = "- " + escape_markdown(one_line(column.name, name_max_bytes)) + ": " +
                       escape_markdown(one_line(column.dtype, name_max_bytes));
    if (column.is_index) line += ", row label";
    if (column.nulls && *column.nulls > 0)
        line += ", " + with_thousands(*column.nulls) + " missing";
    if (column.stats) {
        const ColumnStats& stats = *column.stats;
        const auto shown = [](const Json& value) {
            return value.is_number_float() ? number_text(value.get<double>())
                                           : escape_markdown(shown_cell(value, 60));
        };
        if (!stats.min.is_null()) line += ", from " + shown(stats.min) + " to " + shown(stats.max);
        if (stats.mean) line += ", mean " + number_text(*stats.mean);
        if (stats.distinct) line += ", " + with_thousands(*stats.distinct) + " different";
        if (!stats.top.empty()) {
            line += ", most often";
            for (std::size_t i = 0; i < stats.top.size(); ++i) {
                line += (i == 0 ? " " : ", ") + shown(stats.top[i].first) + " (" +
                        with_thousands(stats.top[i].second) + ")";
            }
        }
        if (!stats.exact) line += " (over a sample)";
    }
    if (!column.note.empty()) line += "; " + escape_markdown(one_line(column.note, 200));
    return line + "\n";
}

}  // namespace

std::string escape_markdown(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size() + 8);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const char before = i > 0 ? text[i - 1] : ' ';
        const char after = i + 1 < text.size() ? text[i + 1] : ' ';
        if (c == '<') {
            escaped += "&lt;";
        } else if (c == '&' && (is_word(after) || after == '#')) {
            escaped += "&amp;";
        } else if (c == '\n' || c == '\r') {
            escaped += ' ';
        } else {
            const bool always = c == '\\' || c == '|' || c == '`' || c == '*';
            const bool link = c == ']' && (after == '(' || after == '[' || after == ':');
            const bool emphasis = c == '_' && !(is_word(before) && is_word(after));
            const bool strike = c == '~' && (before == '~' || after == '~');
            const bool block = i == 0 && (c == '#' || c == '>');
            if (always || link || emphasis || strike || block) escaped += '\\';
            escaped += c;
        }
    }
    return escaped;
}

std::string to_markdown(const Table& table, const MarkdownOptions& options) {
    MarkdownOptions tried = options;
    while (true) {
        std::string markdown = render(table, tried);
        if (markdown.size() <= options.max_bytes) return markdown;
        const std::size_t columns = std::min(tried.max_columns, table.columns.size());
        const std::size_t rows = std::min(tried.max_rows, table.preview.size());
        if (rows > least_rows) {
            tried.max_rows = std::max(least_rows, rows * 2 / 3);
        } else if (columns > least_columns) {
            tried.max_columns = std::max(least_columns, columns * 2 / 3);
        } else if (tried.max_cell_bytes > least_cell_bytes) {
            tried.max_cell_bytes = std::max(least_cell_bytes, tried.max_cell_bytes / 2);
        } else {
            std::string shape = shape_text(table) + ", too wide for the space left.\n";
            return std::string(cut_utf8(shape, options.max_bytes));
        }
    }
}

std::string columns_as_markdown(const Table& table, std::size_t max_bytes) {
    std::string list;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string line = column_line(table.columns[i]);
        const std::string rest = fmt::format("- and {} more columns\n", table.columns_total - i);
        if (list.size() + line.size() + rest.size() > max_bytes) {
            if (list.size() + rest.size() <= max_bytes) list += rest;
            return list;
        }
        list += line;
    }
    if (table.columns_total > table.columns.size()) {
        list += fmt::format("- and {} more columns\n", table.columns_total - table.columns.size());
    }
    return list;
}

}  // namespace cellblock::artifacts
