#include "artifacts/table_writers.h"

#include <algorithm>
#include <array>

#include "artifacts/markdown.h"
#include "artifacts/table_columns.h"
#include "artifacts/table_limits.h"
#include "artifacts/text.h"

namespace cellblock::artifacts {
namespace {

// Cells of one piece: few enough that a piece of numbers is about as large as one is written.
constexpr std::uint64_t piece_cells = 16'384;
constexpr std::uint64_t piece_rows_max = 4096;

struct FormatName {
    TableFormat format;
    std::string_view extension;
    std::string_view mime;
};
constexpr std::array formats = {
    FormatName{TableFormat::csv, "csv", "text/csv"},
    FormatName{TableFormat::json, "json", "application/json"},
    FormatName{TableFormat::html, "html", "text/html"},
    FormatName{TableFormat::markdown, "md", "text/markdown"},
};

void append_html(std::string& out, std::string_view text) {
    for (const char c : text) {
        switch (c) {
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
}

// Quoted where a reader could take it apart, and the empty text, so that it differs from null.
void append_csv(std::string& out, std::string_view text, bool is_null) {
    const bool quoted = text.empty() ? !is_null
                                     : text.find_first_of(",\"\r\n") != std::string_view::npos ||
                                           text.front() == ' ' || text.back() == ' ';
    if (!quoted) {
        out += text;
        return;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

std::string valid(std::string_view name) {
    std::string text;
    for (std::size_t at = 0; at < name.size();) {
        const CodePoint c = code_point_at(name, at);
        at += c.size_bytes;
        append_utf8(text, c.value);
    }
    return text;
}

constexpr std::string_view html_head =
    "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><style>"
    ":root{color-scheme:light dark}body{font:14px/1.4 system-ui,sans-serif;margin:1rem}"
    "table{border-collapse:collapse}"
    "th,td{padding:.25rem .6rem;border-bottom:1px solid #8884;text-align:left;"
    "white-space:pre-wrap;vertical-align:top}"
    "thead th{position:sticky;top:0;background:Canvas}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}"
    "</style></head><body><table>\n<thead><tr>";

}  // namespace

std::optional<TableFormat> table_format_from(std::string_view extension) {
    for (const FormatName& known : formats) {
        if (known.extension == extension) return known.format;
    }
    return std::nullopt;
}

std::string_view mime_of(TableFormat format) {
    for (const FormatName& known : formats) {
        if (known.format == format) return known.mime;
    }
    return "application/octet-stream";
}

TableWriter::TableWriter(arrow::ArrowFile file, TableFormat format, std::uint64_t max_rows)
    : file_(std::move(file)), format_(format), rows_(std::min(file_.rows(), max_rows)) {
    const std::size_t width = std::max<std::size_t>(file_.schema().fields.size(), 1);
    piece_rows_ = std::clamp<std::uint64_t>(piece_cells / width, 16, piece_rows_max);
    for (const arrow::Field& field : file_.schema().fields) {
        std::string key;
        arrow::append_json_string(key, field.name);
        keys_.push_back(key + ":");
    }
}

void TableWriter::begin(std::string& out) const {
    std::string rule = "|";
    const char* separator = "";
    if (format_ == TableFormat::html) out += html_head;
    if (format_ == TableFormat::markdown) out += "|";
    if (format_ == TableFormat::json) {
        out += "[";
        return;
    }
    for (const arrow::Field& field : file_.schema().fields) {
        const bool number = is_numeric(kind_of(field));
        switch (format_) {
            case TableFormat::csv:
                out += separator;
                append_csv(out, valid(field.name), false);
                separator = ",";
                break;
            case TableFormat::html:
                out += number ? "<th class=\"n\">" : "<th>";
                append_html(out, valid(field.name));
                out += "</th>";
                break;
            default:
                out += " " + escape_markdown(one_line(field.name, limits::table_text_max_bytes)) +
                       " |";
                rule += number ? " ---: |" : " --- |";
        }
    }
    if (format_ == TableFormat::csv) out += "\n";
    if (format_ == TableFormat::html) out += "</tr></thead>\n<tbody>\n";
    if (format_ == TableFormat::markdown) out += "\n" + rule + "\n";
}

void TableWriter::end(std::string& out) const {
    const std::uint64_t all = file_.rows();
    const std::string shown =
        rows_ < all ? "The first " + with_thousands(rows_) + " of " + with_thousands(all) + " rows."
                    : with_thousands(all) + (all == 1 ? " row." : " rows.");
    if (format_ == TableFormat::json) out += row_ > 0 ? "\n]\n" : "]\n";
    if (format_ == TableFormat::html) {
        out += "</tbody></table>\n<p>" + shown + "</p></body></html>\n";
    }
    if (format_ == TableFormat::markdown) out += "\n" + shown + "\n";
}

void TableWriter::add_csv_cell(const arrow::Slice& slice, std::uint64_t row, std::string& out) {
    const bool is_text = kind_of(*slice.field) == ColumnKind::text;
    // A line with nothing on it is skipped by readers: the only cell of a row is never bare.
    const bool alone = file_.schema().fields.size() == 1;
    std::string text;
    cells_.append_text(text, slice, row);
    append_csv(out, text, !alone && (slice.is_null(row) || !is_text));
}

void TableWriter::add_row(const std::vector<arrow::Slice>& slices, std::uint64_t row,
                          std::string& out) {
    if (format_ == TableFormat::json) out += row_ + row > 0 ? ",\n{" : "\n{";
    if (format_ == TableFormat::html) out += "<tr>";
    if (format_ == TableFormat::markdown) out += "|";
    for (std::size_t i = 0; i < slices.size() && out.size() <= arrow::output_max_bytes; ++i) {
        std::string text;
        switch (format_) {
            case TableFormat::csv:
                if (i > 0) out += ',';
                add_csv_cell(slices[i], row, out);
                break;
            case TableFormat::json:
                if (i > 0) out += ',';
                out += keys_[i];
                cells_.append_json(out, slices[i], row);
                break;
            case TableFormat::html:
                cells_.append_text(text, slices[i], row);
                out += is_numeric(kind_of(*slices[i].field)) ? "<td class=\"n\">" : "<td>";
                append_html(out, text);
                out += "</td>";
                break;
            case TableFormat::markdown:
                cells_.append_text(text, slices[i], row);
                out += " " + escape_markdown(one_line(text, limits::table_cell_max_bytes)) + " |";
        }
    }
    if (format_ == TableFormat::html) out += "</tr>";
    out += format_ == TableFormat::json ? "}" : "\n";
}

Result<void> TableWriter::add_piece(std::uint64_t count, std::string& out) {
    std::size_t budget = arrow::read_max_bytes;
    std::vector<arrow::Slice> slices;
    for (std::size_t i = 0; i < file_.schema().fields.size(); ++i) {
        CB_TRY_ASSIGN(slice, file_.read(i, row_, count, budget));
        slices.push_back(std::move(slice));
    }
    for (std::uint64_t row = 0; row < count; ++row) {
        add_row(slices, row, out);
        if (out.size() > arrow::output_max_bytes) {
            return fail(ErrorCode::too_large, "a row of the table is too large to be converted",
                        "download it as .arrow");
        }
    }
    return {};
}

Result<void> TableWriter::add_rows(std::string& out) {
    while (row_ < rows_ && out.size() < limits::table_piece_bytes) {
        const std::uint64_t together = std::min(file_.rows_together(row_), rows_ - row_);
        const std::uint64_t count = std::min(together, piece_rows_);
        const std::size_t before = out.size();
        auto added = add_piece(count, out);
        if (!added) {
            if (added.error().code != ErrorCode::too_large || count == 1) {
                return fail(std::move(added).error());
            }
            out.resize(before);
            piece_rows_ = count / 2;
            continue;
        }
        row_ += count;
    }
    return {};
}

Result<std::string> TableWriter::next() {
    std::string out;
    if (ended_) return out;
    if (!begun_) begin(out);
    begun_ = true;
    CB_TRY(add_rows(out));
    if (row_ >= rows_) {
        end(out);
        ended_ = true;
    }
    written_ += out.size();
    if (written_ > limits::table_converted_max_bytes) {
        return fail(ErrorCode::too_large, "the converted table is too large",
                    "download it as .arrow");
    }
    return out;
}

}  // namespace cellblock::artifacts
