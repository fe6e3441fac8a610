// The chart model as a Vega-Lite 5 specification, with its data inside: what vega-embed renders.
//
// Drawn: line, step, area, band, scatter, bar (grouped, stacked, lying, with error bars),
// histograms, box, violin, error bars, stem, heat maps, pie, contour, hexbin, vectors, Gantt,
// candlesticks, events, reference lines and notes; panels as a concatenation, twin axes with
// scales of their own. Other kinds become a line of text that says so.
//
// Nothing of the guest's text goes into an expression or a field name: data fields have fixed
// names, and text only stands where Vega-Lite takes it as text.
#pragma once

#include "base/json.h"
#include "charts/model.h"

namespace cellblock::charts {

Json to_vega_lite(const Figure& figure);

}  // namespace cellblock::charts
