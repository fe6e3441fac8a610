// The chart of a display, by way of the charts folder: validated, turned into E2B's object and
// described. One place where artifacts/ meets charts/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "artifacts/table.h"
#include "base/error.h"
#include "base/json.h"

namespace cellblock::artifacts {

struct ChartPart {
    Json e2b;                 // E2B's chart object, all keys present
    Json model;               // the validated rich model: what is stored
    std::string title;        // may be empty
    std::string description;  // one paragraph
    std::string alt;          // one sentence

    ChartPart() = default;
};

// The full data of the layers that the guest sampled: one table, a row for each point.
struct ChartData {
    Table table;                      // with its data
    std::vector<std::string> layers;  // their names, as in its first column; some of many

    ChartData() = default;
};

// From the body of application/vnd.cellblock.chart+json.
Result<ChartPart> read_chart(const Json& model);
// Its `full_data`; nothing where the chart itself holds all points.
Result<std::optional<ChartData>> read_chart_data(const Json& model);

}  // namespace cellblock::artifacts
