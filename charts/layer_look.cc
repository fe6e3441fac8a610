#include "charts/layer_look.h"

#include <algorithm>
#include <cmath>

#include "charts/colors.h"

namespace cellblock::charts {

std::string color_of(const Panel& panel, const Layer& layer) {
    if (!layer.color.empty()) return solid(layer.color);
    std::size_t index = 0;
    while (index < panel.layers.size() && &panel.layers[index] != &layer) ++index;
    return series_color(index);
}

double opacity_of(const Layer& layer, double usual) {
    if (layer.style.alpha) return std::clamp(*layer.style.alpha, 0.05, 1.0);
    if (layer.color.size() == 9) return std::clamp(alpha_of(layer.color), 0.05, 1.0);
    return usual;
}

double diameter_px(double area_pt2) {
    return std::clamp(std::sqrt(std::max(area_pt2, 1.0)) * 96 / 72, 2.0, 200.0);
}

}  // namespace cellblock::charts
