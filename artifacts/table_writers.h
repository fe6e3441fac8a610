// A stored table as CSV, JSON, HTML or Markdown, written piece by piece: memory does not grow with
// the table.
//
// Blocking: call next() on a worker thread, one at a time. Text of the guest is escaped for the
// format; long cells are whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/arrow/cell.h"
#include "artifacts/arrow/file.h"
#include "base/error.h"

namespace cellblock::artifacts {

enum class TableFormat { csv, json, html, markdown };

std::optional<TableFormat> table_format_from(std::string_view extension);
std::string_view mime_of(TableFormat format);

class TableWriter {
  public:
    // At most `max_rows` rows; when there are more, Markdown and HTML say so.
    TableWriter(arrow::ArrowFile file, TableFormat format, std::uint64_t max_rows = UINT64_MAX);

    // The next piece; empty at the end. After an error: no more.
    Result<std::string> next();

  private:
    void begin(std::string& out) const;
    void end(std::string& out) const;
    Result<void> add_rows(std::string& out);
    Result<void> add_piece(std::uint64_t count, std::string& out);
    void add_row(const std::vector<arrow::Slice>& slices, std::uint64_t row, std::string& out);
    void add_csv_cell(const arrow::Slice& slice, std::uint64_t row, std::string& out);

    arrow::ArrowFile file_;
    const TableFormat format_;
    const std::uint64_t rows_;
    arrow::CellWriter cells_;
    std::vector<std::string> keys_;  // of JSON: each name with its quotes and colon
    std::uint64_t row_ = 0;
    std::uint64_t piece_rows_ = 0;
    std::uint64_t written_ = 0;
    bool begun_ = false;
    bool ended_ = false;
};

}  // namespace cellblock::artifacts
