// Any bytes as a table's Arrow file: refused, or read, paged, filtered, sorted and converted within
// the limits, into valid UTF-8 and valid JSON.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "artifacts/table_query.h"
#include "artifacts/table_writers.h"
#include "base/json.h"
#include "base/unicode.h"

namespace {

using namespace cellblock;
using namespace cellblock::artifacts;

Result<arrow::ArrowFile> open(ByteView bytes) {
    auto read = [bytes](std::uint64_t offset, std::span<std::byte> into) -> Result<void> {
        // The reader promises to stay inside.
        if (offset > bytes.size() || into.size() > bytes.size() - offset) std::abort();
        std::ranges::copy(bytes.subspan(offset, into.size()), into.begin());
        return {};
    };
    return arrow::ArrowFile::open(std::move(read), bytes.size());
}

void page(ByteView bytes, const RowQuery& query) {
    auto file = open(bytes);
    if (!file) std::abort();  // it opened before
    const auto rows = rows_as_json(*file, query);
    if (!rows) return;
    if (!parse_json(*rows, JsonLimits{64 * limits::MiB, 128}, "rows")) std::abort();
}

void convert(ByteView bytes, TableFormat format) {
    auto file = open(bytes);
    if (!file) std::abort();
    TableWriter writer(std::move(*file), format, 300);
    for (int pieces = 0; pieces < 20; ++pieces) {
        const auto piece = writer.next();
        if (!piece || piece->empty()) return;
        if (!is_valid_utf8(*piece)) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
    const auto file = open(bytes);
    if (!file) return 0;
    RowQuery query;
    query.offset = file->rows() / 2;
    query.limit = 50;
    page(bytes, query);
    if (!file->schema().fields.empty() && file->rows() < 100'000) {
        const std::string& name = file->schema().fields[0].name;
        query.offset = 0;
        query.sort = {"-" + name};
        page(bytes, query);
        query.filter = {name + ":notnull", name + ":contains:1"};
        page(bytes, query);
        query.sort.clear();
        query.filter = {name + ":le:2024-02-29"};
        page(bytes, query);
        query.filter = {name + ":le:12.5"};
        page(bytes, query);
    }
    convert(bytes, TableFormat::csv);
    convert(bytes, TableFormat::json);
    convert(bytes, TableFormat::html);
    convert(bytes, TableFormat::markdown);
    return 0;
}
