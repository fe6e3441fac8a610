// Layers whose marks stand on one axis and measure on the other, as shapes (see scene.h).
#include <algorithm>
#include <cmath>

#include "charts/layer_look.h"
#include "charts/scene_builder.h"
#include "charts/statistics.h"

namespace cellblock::charts {

namespace {

// The width of marks that say none: most of the distance between neighbours.
double usual_width(const Column& positions) {
    Column sorted = positions;
    std::erase_if(sorted, [](double value) { return !std::isfinite(value); });
    std::sort(sorted.begin(), sorted.end());
    double pitch = INFINITY;
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        const double gap = sorted[i] - sorted[i - 1];
        if (gap > 0) pitch = std::min(pitch, gap);
    }
    return std::isfinite(pitch) ? pitch * 0.8 : 0.8;
}

double width_at(const Column& widths, std::size_t i, double usual) {
    return i < widths.size() && std::isfinite(widths[i]) && widths[i] > 0 ? widths[i] : usual;
}

}  // namespace

// On a logarithmic axis zero is nowhere: what stands on it stands on the axis' lower end.
double SceneBuilder::base_of(const Layer& layer, double base) const {
    const Axis& axis = value_axis(panel_, layer);
    if (axis.scale != Scale::log || base > 0) return base;
    return axis.lim && std::min((*axis.lim)[0], (*axis.lim)[1]) > 0
               ? std::min((*axis.lim)[0], (*axis.lim)[1])
               : 1;
}

void SceneBuilder::rule(const Layer& layer, double at, double low, double high, double cap_half,
                        const std::string& color) {
    if (!std::isfinite(at) || !std::isfinite(low) || !std::isfinite(high)) return;
    Polyline line;
    line.color = color;
    line.width_px = 1.2;
    line.points = {point(layer, at, low), point(layer, at, high)};
    add(layer, line);
    if (!(cap_half > 0)) return;
    for (const double end : {low, high}) {
        line.points = {point(layer, at - cap_half, end), point(layer, at + cap_half, end)};
        add(layer, line);
    }
}

void SceneBuilder::bars(const Layer& layer) {
    const Column& position = layer.data.numbers("pos");
    const Column& value = layer.data.numbers("value");
    const auto& colors = layer.data.texts("color");
    const double usual = usual_width(position);
    Boxes bars;
    bars.opacity = opacity_of(layer, 1);
    const std::string own = color_of(layer);
    for (std::size_t i = 0; i < position.size(); ++i) {
        if (!std::isfinite(position[i]) || !std::isfinite(value[i])) continue;
        const double half = width_at(layer.data.numbers("width"), i, usual) / 2;
        const double base = value_at(layer.data.numbers("base"), i, 0);
        bars.items.push_back(box(layer, position[i] - half, position[i] + half,
                                 base_of(layer, base), base_of(layer, base + value[i]),
                                 i < colors.size() && !colors[i].empty() ? solid(colors[i]) : own));
    }
    add(layer, std::move(bars));
    bar_errors(layer);
}

void SceneBuilder::bar_errors(const Layer& layer) {
    const Column& position = layer.data.numbers("pos");
    const Column& low = layer.data.numbers("err_lo");
    const Column& high = layer.data.numbers("err_hi");
    const double usual = usual_width(position);
    for (std::size_t i = 0; i < position.size() && i < low.size() && i < high.size(); ++i) {
        const double half = width_at(layer.data.numbers("width"), i, usual) / 2;
        rule(layer, position[i], base_of(layer, low[i]), high[i], half * 0.25, std::string(ink));
    }
}

void SceneBuilder::hist(const Layer& layer) {
    const Column& edges = layer.data.numbers("edges");
    const Column& count = layer.data.numbers("count");
    Boxes bins;
    bins.opacity = opacity_of(layer, 0.9);
    bins.outline = Outline::ground;
    const std::string own = color_of(layer);
    for (std::size_t i = 0; i < count.size(); ++i) {
        if (!std::isfinite(count[i]) || count[i] == 0) continue;
        const double base = value_at(layer.data.numbers("base"), i, 0);
        bins.items.push_back(box(layer, edges[i], edges[i + 1], base_of(layer, base),
                                 base_of(layer, base + count[i]), own));
    }
    add(layer, std::move(bins));
}

void SceneBuilder::errors(const Layer& layer) {
    const Column& x = layer.data.numbers("x");
    const Column& y = layer.data.numbers("y");
    const std::string own = color_of(layer);
    Layer upright = layer, lying = layer;
    upright.orient = Orient::vertical;
    lying.orient = Orient::horizontal;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (i < layer.data.numbers("y_lo").size())
            rule(upright, x[i], layer.data.numbers("y_lo")[i], layer.data.numbers("y_hi")[i], 0,
                 own);
        if (i < layer.data.numbers("x_lo").size())
            rule(lying, y[i], layer.data.numbers("x_lo")[i], layer.data.numbers("x_hi")[i], 0, own);
    }
    if (!layer.style.line.empty() && layer.style.line != "none") line(layer, x, y);
    Dots dots;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        if (std::isfinite(x[i]) && std::isfinite(y[i])) dots.items.push_back({x[i], y[i], 20, own});
    }
    add(layer, std::move(dots));
}

void SceneBuilder::stems(const Layer& layer) {
    const Column& position = layer.data.numbers("pos");
    const Column& value = layer.data.numbers("value");
    const std::string own = color_of(layer);
    Dots dots;
    for (std::size_t i = 0; i < position.size(); ++i) {
        rule(layer, position[i], base_of(layer, value_at(layer.data.numbers("base"), i, 0)),
             value[i], 0, own);
        const Point top = point(layer, position[i], value[i]);
        if (std::isfinite(top.x) && std::isfinite(top.y)) {
            dots.items.push_back({top.x, top.y, 36, own});
        }
    }
    add(layer, std::move(dots));
}

void SceneBuilder::boxes(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& position = data.numbers("pos");
    const double usual = usual_width(position) * 0.6;
    const std::string line_color(ink);
    Boxes bodies;
    bodies.outline = Outline::ink;
    bodies.opacity = opacity_of(layer, 0.7);
    std::string own = color_of(layer);
    // A box of lines alone has the colour of its lines: the median must stay visible on it.
    if (own == ink) own = "#9aa7b5";
    Dots outliers, means;
    outliers.hollow = true;
    std::vector<Polyline> medians;
    for (std::size_t i = 0; i < position.size(); ++i) {
        const double half = width_at(data.numbers("width"), i, usual) / 2;
        const double q1 = data.numbers("q1")[i], q3 = data.numbers("q3")[i];
        const double middle = data.numbers("median")[i];
        if (!std::isfinite(position[i])) continue;
        rule(layer, position[i], data.numbers("min")[i], q1, 0, line_color);
        rule(layer, position[i], q3, data.numbers("max")[i], 0, line_color);
        for (const double end : {data.numbers("min")[i], data.numbers("max")[i]}) {
            if (!std::isfinite(end)) continue;
            Polyline cap;
            cap.color = line_color;
            cap.points = {point(layer, position[i] - half / 2, end),
                          point(layer, position[i] + half / 2, end)};
            add(layer, std::move(cap));
        }
        if (std::isfinite(q1) && std::isfinite(q3)) {
            bodies.items.push_back(box(layer, position[i] - half, position[i] + half, q1, q3, own));
        }
        if (std::isfinite(middle)) {
            Polyline line;
            line.color = line_color;
            line.width_px = 2;
            line.points = {point(layer, position[i] - half, middle),
                           point(layer, position[i] + half, middle)};
            medians.push_back(std::move(line));
        }
        if (i < data.lists("outliers").size()) {
            for (const double value : data.lists("outliers")[i]) {
                const Point at = point(layer, position[i], value);
                if (std::isfinite(value)) outliers.items.push_back({at.x, at.y, 20, line_color});
            }
        }
        if (i < data.numbers("mean").size() && std::isfinite(data.numbers("mean")[i])) {
            const Point at = point(layer, position[i], data.numbers("mean")[i]);
            means.items.push_back({at.x, at.y, 20, line_color});
        }
    }
    add(layer, std::move(bodies));
    for (Polyline& line : medians) add(layer, std::move(line));
    add(layer, std::move(outliers));
    add(layer, std::move(means));
}

void SceneBuilder::boxens(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& position = data.numbers("pos");
    const double usual = usual_width(position);
    Boxes bodies;
    bodies.outline = Outline::ground;
    const std::string own = color_of(layer);
    std::vector<Polyline> medians;
    for (std::size_t i = 0; i < position.size(); ++i) {
        if (i >= data.lists("levels_lo").size() || !std::isfinite(position[i])) continue;
        const Column& low = data.lists("levels_lo")[i];
        const Column& high = data.lists("levels_hi")[i];
        for (std::size_t level = 0; level < low.size() && level < high.size(); ++level) {
            const double share = static_cast<double>(level + 1) / static_cast<double>(low.size());
            const double half = usual / 2 * share;
            bodies.items.push_back(
                box(layer, position[i] - half, position[i] + half, low[level], high[level], own));
        }
        if (i >= data.numbers("median").size()) continue;
        Polyline line;
        line.color = std::string(ink);
        line.width_px = 2;
        line.points = {point(layer, position[i] - usual / 2, data.numbers("median")[i]),
                       point(layer, position[i] + usual / 2, data.numbers("median")[i])};
        medians.push_back(std::move(line));
    }
    std::erase_if(bodies.items,
                  [](const Box& box) { return !std::isfinite(box.x0 + box.x1 + box.y0 + box.y1); });
    add(layer, std::move(bodies));
    for (Polyline& line : medians) {
        if (std::isfinite(line.points[0].x + line.points[0].y)) add(layer, std::move(line));
    }
}

void SceneBuilder::violins(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& position = data.numbers("pos");
    Dots medians;
    for (std::size_t i = 0; i < position.size(); ++i) {
        Region body;
        body.color = color_of(layer);
        body.opacity = opacity_of(layer, 0.7);
        body.outline = Outline::ground;
        std::vector<Point> back;
        const Column& coords = data.lists("coords")[i];
        for (std::size_t j = 0; j < coords.size(); ++j) {
            const Point left = point(layer, position[i] - data.lists("half_lo")[i][j], coords[j]);
            const Point right = point(layer, position[i] + data.lists("half_hi")[i][j], coords[j]);
            if (!std::isfinite(left.x + left.y + right.x + right.y)) continue;
            body.points.push_back(left);
            back.push_back(right);
        }
        body.points.insert(body.points.end(), back.rbegin(), back.rend());
        if (!body.points.empty()) add(layer, std::move(body));
        const auto stat = [&](const char* name) {
            return i < data.numbers(name).size() ? data.numbers(name)[i] : std::nan("");
        };
        rule(layer, position[i], stat("min"), stat("max"), 0, std::string(ink));
        const Point at = point(layer, position[i], stat("median"));
        if (std::isfinite(at.x + at.y)) medians.items.push_back({at.x, at.y, 30, std::string(ink)});
    }
    add(layer, std::move(medians));
}

void SceneBuilder::candles(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& time = data.numbers("t");
    const double half = usual_width(time) / 2;
    Boxes bodies;
    for (std::size_t i = 0; i < time.size(); ++i) {
        const double open = data.numbers("o")[i], close = data.numbers("c")[i];
        if (!std::isfinite(time[i]) || !std::isfinite(open) || !std::isfinite(close)) continue;
        const std::string color = close >= open ? "#2ca02c" : "#d62728";
        rule(layer, time[i], data.numbers("l")[i], data.numbers("h")[i], 0, color);
        bodies.items.push_back({time[i] - half, open, time[i] + half, close, color});
    }
    bodies.outline = Outline::none;
    add(layer, std::move(bodies));
}

void SceneBuilder::gantt(const Layer& layer) {
    const LayerData& data = layer.data;
    const Column& row = data.numbers("row");
    const auto& colors = data.texts("color");
    const double usual = usual_width(row);
    Boxes bars;
    bars.opacity = opacity_of(layer, 1);
    for (std::size_t i = 0; i < row.size(); ++i) {
        const double half = width_at(data.numbers("height"), i, usual) / 2;
        const Box bar{data.numbers("start")[i], row[i] - half, data.numbers("end")[i],
                      row[i] + half,
                      i < colors.size() && !colors[i].empty() ? solid(colors[i]) : color_of(layer)};
        if (std::isfinite(bar.x0 + bar.x1 + bar.y0 + bar.y1)) bars.items.push_back(bar);
    }
    add(layer, std::move(bars));
}

void SceneBuilder::events(const Layer& layer) {
    const auto& lists = layer.data.lists("pos");
    const Column& offsets = layer.data.numbers("offsets");
    const double half = usual_width(offsets) / 2;
    // "h": the events lie along x and stand in rows.
    Layer turned = layer;
    turned.orient = layer.orient == Orient::horizontal ? Orient::vertical : Orient::horizontal;
    for (std::size_t row = 0; row < lists.size(); ++row) {
        const double offset = value_at(offsets, row, static_cast<double>(row));
        for (const double place : lists[row]) {
            rule(turned, place, offset - half, offset + half, 0, color_of(layer));
        }
    }
}

}  // namespace cellblock::charts
