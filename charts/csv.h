// The data of a chart as CSV: one table for all layers of a kind, in a spreadsheet's terms.
#pragma once

#include <string>

#include "charts/model.h"

namespace cellblock::charts {

// RFC 4180, UTF-8, "\r\n". Every row names its panel, layer and kind; then come the columns of
// the layers, in the order in which they first appear. Dates are ISO 8601, categories by name,
// missing values empty. Cells that a spreadsheet would run as a formula get a leading apostrophe.
std::string to_csv(const Figure& figure);

}  // namespace cellblock::charts
