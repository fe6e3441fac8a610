// A table as a guest described it (application/vnd.cellblock.table+json), validated: columns with
// types and statistics, a preview of head and tail rows, and where the full data lies.
//
// Made by parse_table() only; after that every count, size and text is within its limit, all text
// is valid UTF-8, and cells are scalars. Fuzzed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"

namespace cellblock::artifacts {

inline constexpr std::string_view table_mime = "application/vnd.cellblock.table+json";

enum class ColumnKind {
    integer,
    floating,
    boolean,
    text,
    datetime,
    date,
    time,
    duration,
    decimal,
    binary,
    category,
    list,
    record,
    mixed,
    null,
    other
};

std::string_view to_string(ColumnKind kind);
bool is_numeric(ColumnKind kind);

struct ColumnStats {
    bool exact = true;  // false: computed over a sample
    Json min;           // scalars of the column's kind; null when not known
    Json max;
    std::optional<double> mean;
    std::optional<double> std_dev;
    std::optional<std::uint64_t> distinct;
    std::vector<std::pair<Json, std::uint64_t>> top;  // most frequent values with their counts

    ColumnStats() = default;
};

struct Column {
    std::string name;
    std::string dtype;  // the library's own name: "int64", "datetime64[ns, Europe/Oslo]"
    ColumnKind kind = ColumnKind::other;
    bool is_index = false;               // a row label (pandas index), not data
    std::optional<std::uint64_t> nulls;  // absent: not counted
    std::optional<ColumnStats> stats;
    std::string note;  // "stored as text: values of different types"

    Column() = default;
};

// Full data: small tables bring it along, that of others lies in the guest as a file.
struct TableData {
    std::string format;  // "arrow" or "csv"
    Bytes content;       // when `path` is empty
    std::string path;    // in the guest, below guest_artifact_folder
    std::uint64_t rows = 0;

    TableData() = default;
};

struct Table {
    std::string library;                      // "pandas", "polars", ...; may be empty
    std::string type;                         // "DataFrame", "Series"; may be empty
    std::optional<std::uint64_t> rows_total;  // absent: the guest does not know
    std::uint64_t columns_total = 0;
    std::vector<Column> columns;
    // Rows of columns.size() scalars: first head_rows from the start, the others from the end.
    std::vector<std::vector<Json>> preview;
    std::size_t head_rows = 0;
    std::optional<TableData> data;
    // How many rows e2b/data has of it, when not all.
    std::optional<std::uint64_t> e2b_rows;
    bool partial = false;  // something of it was not captured
    std::string reason;    // what, and why

    Table() = default;
    std::uint64_t rows_known() const { return rows_total.value_or(preview.size()); }
};

// Where guests leave files for the host. Paths elsewhere are refused.
inline constexpr std::string_view guest_artifact_folder = "/run/cellblock/artifacts/";
bool is_guest_artifact_path(std::string_view path);

// guest_protocol with the field that is wrong. Texts that are too long are cut, not refused.
Result<Table> parse_table(const Json& json);

// Shape, columns and the first rows as JSON for an artifact's `preview` and metadata: at most
// `max_bytes`, columns and rows left out said as numbers.
Json table_summary(const Table& table, std::size_t max_bytes);

// The table back from its summary, as far as the summary goes: for whoever shows it again.
Result<Table> parse_table_summary(const Json& summary);

// "2,000,000 rows × 12 columns"
std::string shape_text(const Table& table);

// A cell or statistic as text without quotes: numbers in their shortest exact form.
std::string cell_text(const Json& cell);

}  // namespace cellblock::artifacts
