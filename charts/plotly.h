// The chart model as Plotly JSON: {"data": traces, "layout": ...}, what Plotly.newPlot and
// plotly.io take.
//
// Axes of names are axes of numbers with the names on their ticks, so that bars stand exactly where
// the figure had them. Symmetric logarithmic and the like become linear axes, because Plotly has no
// such scale. Plotly reads a small HTML in its texts: the guest's is escaped.
#pragma once

#include "base/json.h"
#include "charts/model.h"

namespace cellblock::charts {

Json to_plotly(const Figure& figure);

}  // namespace cellblock::charts
