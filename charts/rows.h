// The data of a chart as one table of text cells, in a spreadsheet's terms: what CSV and Markdown
// are written from.
//
// Every row names its panel, layer and kind; then come the columns of the layers, in the order in
// which they first appear. Dates are ISO 8601, categories by name, missing values empty. A hostile
// figure has a million values, so rows are visited one by one and never held all at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "charts/model.h"

namespace cellblock::charts {

class DataRows {
  public:
    // The figure must outlive the object.
    explicit DataRows(const Figure& figure);

    const std::vector<std::string>& columns() const { return columns_; }
    // Calls `visit` with each row's cells, as many as there are columns.
    void for_each(const std::function<void(const std::vector<std::string>& cells)>& visit) const;

  private:
    const Figure& figure_;
    std::vector<std::string> columns_;
};

// Whether a cell is a number's text (and no name that only begins like one).
bool reads_as_number(const std::string& cell);

}  // namespace cellblock::charts
