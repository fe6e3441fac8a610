// Colours as writers need them: the guest's "#rrggbb[aa]", the colours that stand for values, and
// which ink reads on which ground.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "charts/model.h"

namespace cellblock::charts {

struct Rgb {
    double red = 0, green = 0, blue = 0;  // 0 to 255
};

// "#rrggbb..." as numbers; black for anything else.
Rgb rgb_of(std::string_view color);
std::string hex_of(const Rgb& color);
// Its part without alpha, and the alpha: 1 when it has none.
std::string solid(std::string_view color);
double alpha_of(std::string_view color);
// Perceived brightness, 0 to 1 (WCAG's relative luminance).
double luminance(const Rgb& color);

// Colours for series that have none of their own: as many as wanted, repeating.
std::string series_color(std::size_t index);

// The colours of a colour scale: evenly spaced stops, as "#rrggbb".
std::vector<std::string> color_stops(std::string_view cmap);

// Values to colours by a panel's colour scale. Values beyond its limits take the end's colour.
class ColorRamp {
  public:
    // `lowest` and `highest` serve when the scale has no limits of its own.
    ColorRamp(const std::optional<ColorScale>& scale, double lowest, double highest);

    std::string color(double value) const;
    double low() const { return low_; }
    double high() const { return high_; }
    bool logarithmic() const { return logarithmic_; }
    const std::vector<std::string>& stops() const { return stops_; }
    // The value at a fraction of the scale, for its legend.
    double value_at(double fraction) const;

  private:
    double low_ = 0, high_ = 1;
    bool logarithmic_ = false;
    std::vector<std::string> stops_;
};

}  // namespace cellblock::charts
