// One layer in words: the figures that matter of each kind (see describe.h).
#include <algorithm>
#include <cmath>
#include <vector>

#include "charts/describe.h"
#include "charts/statistics.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

std::string value_text(const Axis& axis, double value) {
    if (axis.scale == Scale::datetime || !axis.categories.empty()) {
        const std::string text = axis_value_text(axis, value, 3);
        if (axis.scale == Scale::datetime) return text;
        for (std::size_t i = 0; i < axis.positions.size(); ++i) {
            if (axis.positions[i] == value) return quoted_name(axis.categories[i]);
        }
    }
    return short_number(value);
}

std::string with_unit(const Axis& axis, double value) {
    std::string text = value_text(axis, value);
    if (axis.unit && axis.unit->size() <= 8 && axis.scale != Scale::datetime) {
        text += " " + clean_word(*axis.unit);
        while (!text.empty() && text.back() == ' ') text.pop_back();
    }
    return text;
}

std::string percent(double share) {
    return short_number(std::round(share * 1000) / 10) + "%";
}

std::string line_text(const Axis& x_axis, const Axis& y_axis, const Column& x, const Column& y) {
    const auto found = extremes(y);
    if (!found || x.size() != y.size()) return "no values";
    if (found->count == 1) {
        return "one value, " + with_unit(y_axis, y[found->first]) + " at " +
               value_text(x_axis, x[found->first]);
    }
    std::string text = "from " + with_unit(y_axis, y[found->first]) + " at " +
                       value_text(x_axis, x[found->first]) + " to " +
                       with_unit(y_axis, y[found->last]) + " at " +
                       value_text(x_axis, x[found->last]);
    const double first = y[found->first], last = y[found->last];
    if (first > 0 && last > 0 && y_axis.scale != Scale::datetime && y_axis.categories.empty()) {
        const double change = (last - first) / first;
        text += std::string(" (") + (change >= 0 ? "+" : "") + percent(change) + ")";
    }
    text += ", lowest " + value_text(y_axis, y[found->lowest]) + " at " +
            value_text(x_axis, x[found->lowest]) + ", highest " +
            value_text(y_axis, y[found->highest]) + " at " + value_text(x_axis, x[found->highest]);
    const Trend direction = trend(y);
    if (direction == Trend::rises) text += "; it rises steadily";
    if (direction == Trend::falls) text += "; it falls steadily";
    return text;
}

std::string bar_name(const Panel& panel, const Layer& layer, std::size_t i) {
    const Axis& axis = position_axis(panel, layer);
    const Column& category = layer.data.numbers("cat");
    if (i < category.size() && category[i] >= 0) {
        const auto index = static_cast<std::size_t>(category[i]);
        if (index < axis.categories.size()) return quoted_name(axis.categories[index]);
    }
    const auto& labels = layer.data.texts("label");
    if (i < labels.size() && !labels[i].empty()) return quoted_name(labels[i]);
    return value_text(axis, layer.data.numbers("pos")[i]);
}

std::string bar_text(const Panel& panel, const Layer& layer) {
    const Column& value = layer.data.numbers("value");
    const Axis& axis = value_axis(panel, layer);
    const auto found = extremes(value);
    if (!found) return "no values";
    if (found->count == 1) {
        return "one bar, " + bar_name(panel, layer, found->first) + " at " +
               with_unit(axis, value[found->first]);
    }
    std::string text =
        std::to_string(found->count) + " bars, largest " + bar_name(panel, layer, found->highest) +
        " at " + with_unit(axis, value[found->highest]) + ", smallest " +
        bar_name(panel, layer, found->lowest) + " at " + with_unit(axis, value[found->lowest]);
    const double low = value[found->lowest], high = value[found->highest];
    if (low > 0) {
        if (high / low >= 1.05) text += " (ratio " + short_number(high / low) + ")";
        text += ", total " + short_number(found->sum);
    }
    return text;
}

std::string hist_text(const Panel& panel, const Layer& layer) {
    const Column& edges = layer.data.numbers("edges");
    const Column& count = layer.data.numbers("count");
    const Axis& axis = position_axis(panel, layer);
    const auto found = extremes(count);
    if (!found || count.empty()) return "no values";
    std::string text;
    if (layer.n) text += std::to_string(*layer.n) + " observations in ";
    text += std::to_string(count.size()) + " bins from " + value_text(axis, edges.front()) +
            " to " + with_unit(axis, edges.back()) + ", most frequent " +
            value_text(axis, edges[found->highest]) + " to " +
            value_text(axis, edges[found->highest + 1]);
    if (layer.data.flag("cumulative") || found->sum <= 0) return text;
    double before = 0, total = 0;
    const bool density = layer.data.flag("density");
    const auto mass = [&](std::size_t i) {
        return density ? count[i] * (edges[i + 1] - edges[i]) : count[i];
    };
    for (std::size_t i = 0; i < count.size(); ++i) total += std::isfinite(count[i]) ? mass(i) : 0;
    for (std::size_t i = 0; i < count.size(); ++i) {
        before += std::isfinite(count[i]) ? mass(i) : 0;
        if (before >= total / 2) {
            text += ", median between " + value_text(axis, edges[i]) + " and " +
                    value_text(axis, edges[i + 1]);
            break;
        }
    }
    return text;
}

std::string scatter_text(const Panel& panel, const Layer& layer) {
    const Column& x = layer.data.numbers("x");
    const Column& y = layer.data.numbers("y");
    const auto in_x = extremes(x), in_y = extremes(y);
    if (!in_x || !in_y) return "no points";
    const Axis& horizontal = x_axis(panel, layer);
    const Axis& vertical = y_axis(panel, layer);
    std::string text = std::to_string(layer.n.value_or(x.size())) + " points, x from " +
                       value_text(horizontal, x[in_x->lowest]) + " to " +
                       with_unit(horizontal, x[in_x->highest]) + ", y from " +
                       value_text(vertical, y[in_y->lowest]) + " to " +
                       with_unit(vertical, y[in_y->highest]);
    if (horizontal.categories.empty() && vertical.categories.empty()) {
        if (const auto r = correlation(x, y)) {
            const double size = std::abs(*r);
            const char* strength = size >= 0.7 ? "strong " : size >= 0.4 ? "moderate " : "weak ";
            text += std::string(", ") + strength +
                    "correlation r = " + short_number(std::round(*r * 100) / 100);
        }
    }
    return text;
}

std::string pie_text(const Layer& layer) {
    const auto& labels = layer.data.texts("label");
    const Column& share = layer.data.numbers("frac");
    std::vector<std::size_t> order(share.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return share[a] > share[b] || (share[a] == share[b] && a < b);
    });
    std::string text = std::to_string(share.size()) + " parts: ";
    double rest = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i >= 3 && order.size() > 4) {
            rest += share[order[i]];
            continue;
        }
        if (i > 0) text += ", ";
        text += (labels[order[i]].empty() ? "unnamed" : quoted_name(labels[order[i]])) + " " +
                percent(share[order[i]]);
    }
    if (order.size() > 4)
        text += ", " + std::to_string(order.size() - 3) + " others " + percent(rest);
    return text;
}

std::string box_text(const Panel& panel, const Layer& layer) {
    const LayerData& data = layer.data;
    const auto& labels = data.texts("label");
    const Column& middle = data.numbers("median");
    const Axis& axis = value_axis(panel, layer);
    const auto found = extremes(middle);
    if (!found) return std::to_string(labels.size()) + " groups";
    std::string text = std::to_string(labels.size()) + (labels.size() == 1 ? " group" : " groups");
    for (std::size_t i = 0; i < labels.size() && i < 4; ++i) {
        text += (i == 0 ? ": " : ", ") + quoted_name(labels[i]) + " median " +
                value_text(axis, middle[i]);
        const Column& q1 = data.numbers("q1");
        if (i < q1.size() && std::isfinite(q1[i])) {
            text += " (quartiles " + value_text(axis, q1[i]) + " to " +
                    value_text(axis, data.numbers("q3")[i]) + ")";
        }
    }
    if (labels.size() > 4) {
        text += "; largest median " + quoted_name(labels[found->highest]) + " " +
                value_text(axis, middle[found->highest]) + ", smallest " +
                quoted_name(labels[found->lowest]) + " " + value_text(axis, middle[found->lowest]);
    }
    std::size_t outliers = 0;
    for (const Column& list : data.lists("outliers")) outliers += list.size();
    if (outliers > 0) text += "; " + std::to_string(outliers) + " outliers";
    return text;
}

std::string cell_name(const Panel& panel, const Layer& layer, std::size_t row, std::size_t column) {
    const auto name = [&](const char* cats, const char* edges, const Axis& axis, std::size_t i) {
        const auto& names = layer.data.texts(cats);
        if (i < names.size()) return quoted_name(names[i]);
        const Column& borders = layer.data.numbers(edges);
        if (i + 1 < borders.size()) return value_text(axis, (borders[i] + borders[i + 1]) / 2);
        return std::to_string(i);
    };
    return "(" + name("x_cats", "x_edges", panel.x, column) + ", " +
           name("y_cats", "y_edges", panel.y, row) + ")";
}

// A square of values in [-1, 1] with ones on its diagonal, equal to its mirror image.
bool is_correlation_matrix(const Grid& grid) {
    if (grid.rows != grid.columns || grid.rows < 2) return false;
    for (std::size_t i = 0; i < grid.rows; ++i) {
        if (std::abs(grid.at(i, i) - 1) > 1e-9) return false;
        for (std::size_t j = 0; j < i; ++j) {
            if (!(std::abs(grid.at(i, j) - grid.at(j, i)) < 1e-9) || std::abs(grid.at(i, j)) > 1)
                return false;
        }
    }
    return true;
}

std::string grid_text(const Panel& panel, const Layer& layer) {
    const Grid& grid = layer.data.grid("v");
    const auto found = extremes(grid.values);
    std::string text = std::to_string(grid.columns) + " by " + std::to_string(grid.rows) + " cells";
    if (!found) return text + " without values";
    if (is_correlation_matrix(grid)) {
        std::size_t row = 1, column = 0;
        for (std::size_t i = 0; i < grid.rows; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (std::abs(grid.at(i, j)) > std::abs(grid.at(row, column))) row = i, column = j;
            }
        }
        return text + ", a correlation matrix; strongest pair " +
               cell_name(panel, layer, row, column) + " with " + short_number(grid.at(row, column));
    }
    return text + ", highest " + short_number(grid.values[found->highest]) + " at " +
           cell_name(panel, layer, found->highest / grid.columns, found->highest % grid.columns) +
           ", lowest " + short_number(grid.values[found->lowest]) + " at " +
           cell_name(panel, layer, found->lowest / grid.columns, found->lowest % grid.columns) +
           ", mean " + short_number(found->sum / static_cast<double>(found->count));
}

std::string contour_text(const Layer& layer) {
    const auto levels = extremes(layer.data.numbers("levels"));
    std::string text = "levels";
    if (levels) {
        text = std::to_string(levels->count) + " levels from " +
               short_number(layer.data.numbers("levels")[levels->lowest]) + " to " +
               short_number(layer.data.numbers("levels")[levels->highest]);
    }
    const Grid& z = layer.data.grid("z");
    if (const auto found = extremes(z.values)) {
        text += ", highest value " + short_number(z.values[found->highest]) + " at (" +
                short_number(layer.data.numbers("z_x")[found->highest % z.columns]) + ", " +
                short_number(layer.data.numbers("z_y")[found->highest / z.columns]) + ")";
    }
    return text;
}

std::string error_text(const Panel& panel, const Layer& layer) {
    std::string text = line_text(x_axis(panel, layer), y_axis(panel, layer),
                                 layer.data.numbers("x"), layer.data.numbers("y"));
    double widest = 0;
    const Column& low = layer.data.numbers("y_lo");
    const Column& high = layer.data.numbers("y_hi");
    for (std::size_t i = 0; i < low.size() && i < high.size(); ++i) {
        if (std::isfinite(high[i] - low[i])) widest = std::max(widest, (high[i] - low[i]) / 2);
    }
    if (widest > 0) text += "; error bars up to ±" + short_number(widest);
    return text;
}

std::string rest_text(const Layer& layer) {
    std::string text;
    const auto& artists = layer.data.texts("artists");
    for (std::size_t i = 0; i < artists.size() && i < 5; ++i) {
        text += (text.empty() ? "" : ", ") + short_number(layer.data.numbers("artist_counts")[i]) +
                " " + quoted_name(artists[i]);
    }
    if (text.empty() && layer.n) text = std::to_string(*layer.n) + " values";
    if (!layer.error.empty()) text += (text.empty() ? "" : "; ") + std::string("could not be read");
    return text;
}

}  // namespace

std::string describe_layer(const Panel& panel, const Layer& layer) {
    const LayerData& data = layer.data;
    switch (layer.kind) {
        case Kind::line:
        case Kind::step:
        case Kind::ecdf:
        case Kind::kde:
            if (layer.style.segments) return rest_text(layer);
            return line_text(x_axis(panel, layer), y_axis(panel, layer), data.numbers("x"),
                             data.numbers("y"));
        case Kind::area: {
            if (!data.stack()) {
                return line_text(position_axis(panel, layer), value_axis(panel, layer),
                                 data.numbers("x"), data.numbers("hi"));
            }
            Column own = data.numbers("hi");
            for (std::size_t i = 0; i < own.size(); ++i) own[i] -= data.numbers("lo")[i];
            return line_text(position_axis(panel, layer), value_axis(panel, layer),
                             data.numbers("x"), own);
        }
        case Kind::band: {
            const auto low = extremes(data.numbers("lo")), high = extremes(data.numbers("hi"));
            if (!low || !high) return {};
            const Axis& axis = value_axis(panel, layer);
            return "a band between " + value_text(axis, data.numbers("lo")[low->lowest]) + " and " +
                   value_text(axis, data.numbers("hi")[high->highest]);
        }
        case Kind::scatter:
            return scatter_text(panel, layer);
        case Kind::bar:
            return bar_text(panel, layer);
        case Kind::hist:
            return hist_text(panel, layer);
        case Kind::pie:
            return pie_text(layer);
        case Kind::box:
        case Kind::boxen:
        case Kind::violin:
            return box_text(panel, layer);
        case Kind::heatmap:
        case Kind::hist2d:
            return grid_text(panel, layer);
        case Kind::contour:
        case Kind::contourf:
            return contour_text(layer);
        case Kind::errorbar:
            return error_text(panel, layer);
        case Kind::stem:
            return line_text(position_axis(panel, layer), value_axis(panel, layer),
                             data.numbers("pos"), data.numbers("value"));
        default:
            return rest_text(layer);
    }
}

}  // namespace cellblock::charts
