// Cells as text and as JSON: the one home, on the host, of how a value of a table is written.
//
// The guest's cellblock_artifacts/values.py writes previews and e2b/data by the same rules, and
// tests hold both to one list of cases: integers past 2^53 are strings (JavaScript would round
// them), NaN is null, infinity is "inf" or "-inf", decimals are strings, dates are ISO 8601 with
// the zone's offset, durations ISO 8601 ("P1DT2H"), bytes "0x...", a category is its value, lists
// and structs are JSON. The output is valid UTF-8 whatever the guest's bytes are.
//
// Lists stop where the output grows past output_max_bytes; the caller refuses such an output.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "artifacts/arrow/slice.h"
#include "artifacts/arrow/zone.h"

namespace cellblock::artifacts::arrow {

class CellWriter {
  public:
    // Texts longer than `text_max_bytes` are cut and end with "…". 0: never.
    explicit CellWriter(std::size_t text_max_bytes = 0) : text_max_bytes_(text_max_bytes) {}

    void append_json(std::string& out, const Slice& slice, std::uint64_t row);
    // As append_json() without the quotes; nothing for null. For CSV, HTML, Markdown.
    void append_text(std::string& out, const Slice& slice, std::uint64_t row);

    const Zone& zone(const std::string& name);

  private:
    void append_quoted(std::string& out, std::string_view text) const;
    void append_list(std::string& out, const Slice& child, std::uint64_t begin, std::uint64_t end);
    void append_struct(std::string& out, const Slice& slice, std::uint64_t row);
    void append_map(std::string& out, const Slice& slice, std::uint64_t row);
    // True when the scalar is a JSON string.
    bool append_scalar(std::string& out, const Slice& slice, std::uint64_t row);
    std::string timestamp_text(const Slice& slice, std::uint64_t row);
    std::string binary_text(ByteView bytes) const;

    const std::size_t text_max_bytes_;
    std::map<std::string, Zone> zones_;
};

// A JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// Shortest text that reads back as the same number; "inf" and "-inf"; "" for NaN.
std::string number_text(double number);

}  // namespace cellblock::artifacts::arrow
