// The chart model as an SVG picture of our own: readable on light and dark ground, with nothing cut
// off and no labels on top of each other, whatever the guest's figure looked like.
//
// Text is laid out by estimated widths (charts/text_size.h). No script, no link, no font and no
// picture from elsewhere is in it; the guest's text is escaped.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "charts/model.h"

namespace cellblock::charts {

// automatic: light, and dark where the reader's system asks for it (prefers-color-scheme).
enum class Theme { automatic, light, dark };
std::optional<Theme> theme_from(std::string_view name);  // "auto", "light", "dark"

struct SvgOptions {
    Theme theme = Theme::automatic;
    std::optional<double> width_px;  // else the figure's own size, within sensible bounds

    SvgOptions() = default;
};

std::string to_svg(const Figure& figure, const SvgOptions& options = {});

}  // namespace cellblock::charts
