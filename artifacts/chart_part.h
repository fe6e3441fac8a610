// The chart of a display, by way of the charts folder: validated, turned into E2B's object and
// described. One place where artifacts/ meets charts/.
#pragma once

#include <string>
#include <vector>

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

// From the body of application/vnd.cellblock.chart+json.
Result<ChartPart> read_chart(const Json& model);

}  // namespace cellblock::artifacts
