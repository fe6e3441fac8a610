// Any JSON as a guest's table: refused, or a table whose every view keeps its limits.
#include <cstdint>
#include <cstdlib>

#include "artifacts/aligned_text.h"
#include "artifacts/markdown.h"
#include "artifacts/table.h"
#include "base/bytes.h"
#include "base/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cellblock;
    using namespace cellblock::artifacts;
    const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
    const auto json = parse_json(as_text(bytes), JsonLimits{limits::MiB, 64}, "a table");
    if (!json) return 0;
    const auto table = parse_table(*json);
    if (!table) return 0;
    if (table->columns.size() > limits::table_columns_max) std::abort();
    if (table->preview.size() > limits::table_preview_rows_max) std::abort();
    if (table->head_rows > table->preview.size()) std::abort();
    for (const auto& row : table->preview) {
        if (row.size() != table->columns.size()) std::abort();
    }
    for (const std::size_t budget : {std::size_t{100}, std::size_t{1500}}) {
        MarkdownOptions options;
        options.max_bytes = budget;
        if (to_markdown(*table, options).size() > budget) std::abort();
        if (columns_as_markdown(*table, budget).size() > budget) std::abort();
    }
    AlignedOptions narrow;
    narrow.width = 40;
    (void)to_aligned_text(*table, narrow);
    // Text of the guest must have become valid UTF-8: dumping strictly throws otherwise.
    (void)table_summary(*table, 2000).dump();
    return 0;
}
