// How much room text takes in a picture, without a font at hand: widths of a common sans-serif,
// rounded up, so that what is laid out by them fits in whatever the reader's machine draws with.
#pragma once

#include <string>
#include <string_view>

namespace cellblock::charts {

// In units of the font size.
double text_width_em(std::string_view text);

// The text, or as much of it as fits with "…" behind.
std::string fitted_text(std::string_view text, double max_px, double font_px);

}  // namespace cellblock::charts
