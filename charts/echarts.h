// The chart model as an ECharts 5 option, JSON only: no functions, so that it can be stored, sent
// and handed to `setOption` as it is.
//
// Native series where ECharts has them (line, bar, scatter, pie, box plot, heat map, candlestick,
// polar); violins, contours, Gantt bars, arrows and error bars as `lines`. Symmetric logarithmic
// and the like become plain value axes, because ECharts has no such scale. Text of the guest never
// stands where ECharts reads a template.
#pragma once

#include "base/json.h"
#include "charts/model.h"

namespace cellblock::charts {

Json to_echarts(const Figure& figure);

}  // namespace cellblock::charts
