// Layers over both axes, whose colours mean values, as shapes (see scene.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "charts/scene_builder.h"

namespace cellblock::charts {

namespace {

// Cells between the points of a grid: borders halfway to the neighbours.
Column borders(const Column& points) {
    Column edges;
    if (points.empty()) return edges;
    if (points.size() == 1) return {points[0] - 0.5, points[0] + 0.5};
    edges.push_back(points[0] - (points[1] - points[0]) / 2);
    for (std::size_t i = 1; i < points.size(); ++i) {
        edges.push_back((points[i - 1] + points[i]) / 2);
    }
    edges.push_back(points.back() + (points.back() - points[points.size() - 2]) / 2);
    return edges;
}

// 0, 1, 2, ...: where cells stand that only have names.
Column counted(std::size_t cells) {
    Column edges(cells + 1);
    for (std::size_t i = 0; i <= cells; ++i) edges[i] = static_cast<double>(i) - 0.5;
    return edges;
}

}  // namespace

void SceneBuilder::cells(const Layer& layer) {
    const LayerData& data = layer.data;
    const Grid& grid = data.grid("v");
    const Column x_edges =
        data.numbers("x_edges").empty() ? counted(grid.columns) : data.numbers("x_edges");
    const Column y_edges =
        data.numbers("y_edges").empty() ? counted(grid.rows) : data.numbers("y_edges");
    const ColorRamp colors = ramp(grid.values);
    const auto& words = data.words("text");
    Boxes boxes;
    Labels labels;
    for (std::size_t row = 0; row < grid.rows; ++row) {
        for (std::size_t column = 0; column < grid.columns; ++column) {
            const double value = grid.at(row, column);
            if (!std::isfinite(value)) continue;
            const std::string color = colors.color(value);
            boxes.items.push_back(
                {x_edges[column], y_edges[row], x_edges[column + 1], y_edges[row + 1], color});
            if (words.empty() || words[row][column].empty()) continue;
            labels.items.push_back({(x_edges[column] + x_edges[column + 1]) / 2,
                                    (y_edges[row] + y_edges[row + 1]) / 2, words[row][column],
                                    Anchor::middle,
                                    luminance(rgb_of(color)) > 0.3 ? "#1b1f24" : "#ffffff", 0, 4});
        }
    }
    add(layer, std::move(boxes));
    if (!labels.items.empty()) add(layer, std::move(labels));
}

void SceneBuilder::contour_field(const Layer& layer) {
    const Grid& field = layer.data.grid("z");
    const Column x_edges = borders(layer.data.numbers("z_x"));
    const Column y_edges = borders(layer.data.numbers("z_y"));
    if (x_edges.size() != field.columns + 1 || y_edges.size() != field.rows + 1) return;
    const ColorRamp colors = ramp(field.values);
    const Column& levels = layer.data.numbers("levels");
    Boxes boxes;
    for (std::size_t row = 0; row < field.rows; ++row) {
        for (std::size_t column = 0; column < field.columns; ++column) {
            double value = field.at(row, column);
            if (!std::isfinite(value)) continue;
            // Filled contours have one colour between two levels.
            const auto above = std::upper_bound(levels.begin(), levels.end(), value);
            if (above != levels.begin() && above != levels.end()) {
                value = (*(above - 1) + *above) / 2;
            }
            boxes.items.push_back({x_edges[column], y_edges[row], x_edges[column + 1],
                                   y_edges[row + 1], colors.color(value)});
        }
    }
    add(layer, std::move(boxes));
}

void SceneBuilder::contour(const Layer& layer) {
    const LayerData& data = layer.data;
    if (layer.kind == Kind::contourf && data.has("z")) return contour_field(layer);
    const Column& level = data.numbers("path_level");
    const bool plain = !layer.color.empty();  // colours that the user chose, not values
    const std::optional<ColorRamp> mapped =
        plain ? std::nullopt : std::optional(ramp(data.numbers("levels")));
    for (std::size_t path = 0; path < level.size(); ++path) {
        std::vector<Point> points;
        const Column& x = data.lists("path_x")[path];
        const Column& y = data.lists("path_y")[path];
        for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) points.push_back({x[i], y[i]});
        Polyline look;
        look.color = mapped ? mapped->color(level[path]) : color_of(layer);
        runs(layer, points, look);
    }
}

void SceneBuilder::hexbin(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& x = data.numbers("x");
    const Column& y = data.numbers("y");
    const Column& value = data.numbers("v");
    const ColorRamp colors = ramp(value);
    if (!data.number("dx") || !data.number("dy")) {
        Dots dots;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (std::isfinite(x[i] + y[i] + value[i])) {
                dots.items.push_back({x[i], y[i], 80, colors.color(value[i])});
            }
        }
        add(layer, std::move(dots));
        return;
    }
    // dx and dy are the size of one hexagon that stands on a corner.
    const double half = *data.number("dx") / 2, up = *data.number("dy") / 2;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i] + y[i] + value[i])) continue;
        Region cell;
        cell.color = colors.color(value[i]);
        cell.points = {
            {x[i], y[i] + up}, {x[i] + half, y[i] + up / 2}, {x[i] + half, y[i] - up / 2},
            {x[i], y[i] - up}, {x[i] - half, y[i] - up / 2}, {x[i] - half, y[i] + up / 2}};
        add(layer, std::move(cell));
    }
}

// The longest arrow is as long as a grid cell, whatever the unit of its vector.
void SceneBuilder::arrows(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& x = data.numbers("x");
    const Column& y = data.numbers("y");
    const Column& u = data.numbers("u");
    const Column& v = data.numbers("v");
    const Column& value = data.numbers("c");
    const std::optional<ColorRamp> mapped =
        value.empty() ? std::nullopt : std::optional(ramp(value));
    std::array<double, 2> longest{0, 0}, low{INFINITY, INFINITY}, high{-INFINITY, -INFINITY};
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i] + y[i] + u[i] + v[i])) continue;
        longest = {std::max(longest[0], std::abs(u[i])), std::max(longest[1], std::abs(v[i]))};
        low = {std::min(low[0], x[i]), std::min(low[1], y[i])};
        high = {std::max(high[0], x[i]), std::max(high[1], y[i])};
    }
    const double cells = std::max(1.0, std::sqrt(static_cast<double>(x.size())));
    const auto scale = [&](std::size_t axis) {
        const double room = high[axis] > low[axis] ? high[axis] - low[axis] : 1;
        return longest[axis] > 0 ? room / cells / longest[axis] : 0;
    };
    const double scale_x = scale(0), scale_y = scale(1);
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i] + y[i] + u[i] + v[i])) continue;
        Polyline arrow;
        arrow.color = mapped && std::isfinite(value[i]) ? mapped->color(value[i]) : color_of(layer);
        arrow.arrow = true;
        arrow.points = {{x[i], y[i]}, {x[i] + u[i] * scale_x, y[i] + v[i] * scale_y}};
        add(layer, std::move(arrow));
    }
}

}  // namespace cellblock::charts
