// How a layer looks, the same for every writer: its colour, its opacity, the size of its markers.
// Pure.
#pragma once

#include <string>

#include "charts/model.h"

namespace cellblock::charts {

// Its own colour without alpha, else the one of its place among the panel's layers.
std::string color_of(const Panel& panel, const Layer& layer);

// Its style's, else its colour's, never quite invisible; `usual` when it says nothing.
double opacity_of(const Layer& layer, double usual);

// Marker areas in square points as diameters in pixels.
double diameter_px(double area_pt2);

}  // namespace cellblock::charts
