// The data of a chart as a Table, so that it is written and cut like any other table.
#pragma once

#include <cstddef>

#include "artifacts/table.h"

namespace cellblock::charts {
struct Figure;
}

namespace cellblock::artifacts {

// At most `max_rows` of its rows, half of them from the end. Columns that say the same in every row
// (the name of the only panel) are left out.
Table chart_table(const charts::Figure& figure, std::size_t max_rows);

}  // namespace cellblock::artifacts
