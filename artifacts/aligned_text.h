// A table as aligned text for a terminal: numbers to the right, the rest to the left, columns and
// rows left out marked by "…" and counted below. No escape sequence of the guest gets through.
#pragma once

#include <cstddef>
#include <string>

#include "artifacts/table.h"

namespace cellblock::artifacts {

struct AlignedOptions {
    std::size_t width = 100;  // of the terminal, in columns
    std::size_t max_rows = 30;
    std::size_t max_cell_width = 40;

    AlignedOptions() = default;
};

std::string to_aligned_text(const Table& table, const AlignedOptions& options = {});

}  // namespace cellblock::artifacts
