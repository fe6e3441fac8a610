// Which mark draws which kind of layer, for whoever draws a panel on two axes: the one list of it.
#pragma once

#include "charts/model.h"

namespace cellblock::charts {

// Calls the drawer's member function for the layer's kind. False: there is none, because the kind
// has no flat form (3-D, tables) or a form of its own that the drawer looks after.
template <typename Drawer>
bool draw_layer(Drawer& drawer, const Layer& layer) {
    switch (layer.kind) {
        case Kind::line:
        case Kind::step:
        case Kind::ecdf:
        case Kind::kde:
            drawer.line(layer, layer.data.numbers("x"), layer.data.numbers("y"));
            return true;
        case Kind::area:
        case Kind::band:
            drawer.area(layer);
            return true;
        case Kind::scatter:
            drawer.scatter(layer);
            return true;
        case Kind::bar:
            drawer.bars(layer);
            return true;
        case Kind::hist:
            drawer.hist(layer);
            return true;
        case Kind::errorbar:
            drawer.errors(layer);
            return true;
        case Kind::stem:
            drawer.stems(layer);
            return true;
        case Kind::box:
            drawer.boxes(layer);
            return true;
        case Kind::violin:
            drawer.violins(layer);
            return true;
        case Kind::heatmap:
        case Kind::hist2d:
            drawer.cells(layer);
            return true;
        case Kind::contour:
        case Kind::contourf:
            drawer.contour(layer);
            return true;
        case Kind::hexbin:
            drawer.hexbin(layer);
            return true;
        case Kind::quiver:
            drawer.arrows(layer);
            return true;
        case Kind::gantt:
            drawer.gantt(layer);
            return true;
        case Kind::candlestick:
            drawer.candles(layer);
            return true;
        case Kind::event:
            drawer.events(layer);
            return true;
        default:
            return false;
    }
}

}  // namespace cellblock::charts
