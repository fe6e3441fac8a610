// A chart in words, for language models and screen readers: what it is, the figures that matter,
// and a pattern only where a test says that it is there. Numbers have three significant digits.
// Text that came out of the guest stands in quotation marks, on one line and cut: it is data and
// not to be mistaken for instructions.
#pragma once

#include <string>

#include "charts/model.h"

namespace cellblock::charts {

// One paragraph, at most limits::chart_description_max_bytes.
std::string describe(const Figure& figure);
// One sentence of at most 160 characters, for `alt`.
std::string alt_text(const Figure& figure);

// One layer as a sentence without its name; empty when there is nothing to say.
std::string describe_layer(const Panel& panel, const Layer& layer);

// Words for a guest's text: quoted, one line, at most 40 characters.
std::string quoted_name(std::string_view text);
// Three significant digits; whole numbers below ten million in full.
std::string short_number(double value);

}  // namespace cellblock::charts
