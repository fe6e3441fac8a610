// Rows of blocks, and shades (see terminal_bars.h).
#include "charts/terminal_bars.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/unicode.h"
#include "charts/axis_map.h"
#include "charts/colors.h"
#include "charts/describe.h"
#include "charts/statistics.h"
#include "charts/terminal_canvas.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

constexpr std::size_t listed_max = 60;
constexpr std::size_t name_columns_max = 28;
constexpr std::string_view eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr std::string_view shades[] = {" ", "░", "▒", "▓", "█"};

struct Row {
    std::string name;
    double value = 0;
    std::string text;  // the value, written
    std::string color;
};

std::string color_of(const Panel& panel, const Layer& layer) {
    if (!layer.color.empty()) return solid(layer.color);
    return series_color(static_cast<std::size_t>(&layer - panel.layers.data()));
}

// A layer's name in a row's, where several layers share the panel.
std::string with_series(const Panel& panel, const Layer& layer, const std::string& name) {
    if (panel.layers.size() < 2 || !layer.label) return name;
    return name + " · " + *layer.label;
}

std::string place_name(const Panel& panel, const Layer& layer, std::size_t i) {
    const Axis& axis = position_axis(panel, layer);
    const Column& category = layer.data.numbers("cat");
    if (i < category.size() && category[i] >= 0 &&
        category[i] < static_cast<double>(axis.categories.size())) {
        return axis.categories[static_cast<std::size_t>(category[i])];
    }
    return axis_value_text(axis, layer.data.numbers("pos")[i], 6);
}

void add_rows(std::vector<Row>& rows, const Panel& panel, const Layer& layer) {
    const LayerData& data = layer.data;
    const std::string color = color_of(panel, layer);
    if (layer.kind == Kind::pie) {
        for (std::size_t i = 0; i < data.texts("label").size(); ++i) {
            const double share = data.numbers("frac")[i];
            rows.push_back(
                {data.texts("label")[i], share, short_number(std::round(share * 1000) / 10) + "%",
                 i < data.texts("color").size() ? solid(data.texts("color")[i]) : series_color(i)});
        }
        return;
    }
    if (layer.kind == Kind::hist) {
        const Axis& axis = position_axis(panel, layer);
        const Column& edges = data.numbers("edges");
        for (std::size_t i = 0; i < data.numbers("count").size(); ++i) {
            const double count = data.numbers("count")[i];
            const std::string bin =
                axis_value_text(axis, edges[i], 4) + " – " + axis_value_text(axis, edges[i + 1], 4);
            rows.push_back({with_series(panel, layer, bin), count, short_number(count), color});
        }
        return;
    }
    const Column& value = data.numbers("value");
    for (std::size_t i = 0; i < value.size(); ++i) {
        const Axis& axis = value_axis(panel, layer);
        rows.push_back({with_series(panel, layer, place_name(panel, layer, i)), value[i],
                        axis.scale == Scale::datetime ? axis_value_text(axis, value[i])
                                                      : short_number(value[i]),
                        color});
    }
}

std::size_t row_count(const Layer& layer) {
    switch (layer.kind) {
        case Kind::bar:
            return layer.data.numbers("value").size();
        case Kind::hist:
            return layer.data.numbers("count").size();
        case Kind::pie:
            return layer.data.texts("label").size();
        case Kind::box:
            return layer.data.numbers("pos").size();
        default:
            return listed_max + 1;
    }
}

// A bar of so many columns, to an eighth of one.
std::string blocks(double columns) {
    const auto parts = static_cast<std::size_t>(std::lround(std::max(columns, 0.0) * 8));
    std::string text;
    for (std::size_t i = 0; i < parts / 8; ++i) text += "█";
    return text + std::string(eighths[parts % 8]);
}

std::size_t widest_name(const std::vector<std::string>& names) {
    std::size_t widest = 0;
    for (const std::string& name : names) widest = std::max(widest, display_width(name));
    return std::min(widest, name_columns_max);
}

// ├───▐████▌─┤ on the line of values that all boxes share.
std::string box_text(const Panel& panel, const Layer& layer, std::size_t i, const AxisMap& map,
                     std::size_t columns) {
    std::vector<std::string> cells(columns, " ");
    const auto place = [&](const char* name) {
        const double at = map.at(layer.data.numbers(name)[i]);
        const double last = static_cast<double>(columns - 1);
        return static_cast<std::size_t>(
            std::lround(std::clamp(std::isfinite(at) ? at : 0.0, 0.0, 1.0) * last));
    };
    static_cast<void>(panel);
    const std::size_t low = place("min"), q1 = place("q1"), median = place("median"),
                      q3 = place("q3"), high = place("max");
    for (std::size_t at = std::min(low, high); at <= std::max(low, high); ++at) cells[at] = "─";
    for (std::size_t at = std::min(q1, q3); at <= std::max(q1, q3); ++at) cells[at] = "▒";
    cells[low] = "├";
    cells[high] = "┤";
    cells[median] = "█";
    std::string text;
    for (const std::string& cell : cells) text += cell;
    return text;
}

std::string boxes_text(const Panel& panel, const TerminalOptions& options) {
    std::vector<std::string> names;
    Column values;
    for (const Layer& layer : panel.layers) {
        for (std::size_t i = 0; i < row_count(layer); ++i) {
            names.push_back(with_series(panel, layer,
                                        layer.data.texts("label")[i].empty()
                                            ? place_name(panel, layer, i)
                                            : layer.data.texts("label")[i]));
            values.push_back(layer.data.numbers("min")[i]);
            values.push_back(layer.data.numbers("max")[i]);
        }
    }
    const auto found = extremes(values);
    if (!found) return {};
    Axis line = value_axis(panel, panel.layers.front());
    line.lim = {values[found->lowest], values[found->highest]};
    line.inverted = false;
    const AxisMap map(line, std::nullopt);
    const std::size_t name_columns = widest_name(names);
    constexpr std::size_t value_columns = 14;
    const std::size_t used = name_columns + value_columns + 4;
    const std::size_t columns = options.columns > used + 12 ? options.columns - used : 12;
    std::string text;
    std::size_t row = 0;
    for (const Layer& layer : panel.layers) {
        for (std::size_t i = 0; i < row_count(layer); ++i) {
            text += padded_left(fitted_columns(names[row++], name_columns), name_columns) + "  " +
                    inked(box_text(panel, layer, i, map, columns), color_of(panel, layer),
                          options.ink) +
                    "  " + short_number(layer.data.numbers("median")[i]) + "\n";
        }
    }
    return text + std::string(name_columns + 2, ' ') +
           padded_right(short_number(map.low()),
                        columns - display_width(short_number(map.high()))) +
           short_number(map.high()) + "  median\n";
}

// Rows of one category side by side, also where they come from several series.
void stand_together(std::vector<Row>& rows) {
    std::map<std::string, std::vector<Row>> groups;
    std::vector<std::string> order;
    for (Row& row : rows) {
        const std::string name = row.name.substr(0, row.name.find(" · "));
        std::vector<Row>& group = groups[name];
        if (group.empty()) order.push_back(name);
        group.push_back(std::move(row));
    }
    rows.clear();
    for (const std::string& name : order) {
        for (Row& row : groups[name]) rows.push_back(std::move(row));
    }
}

}  // namespace

std::string fitted_columns(const std::string& text, std::size_t columns) {
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint point = code_point_at(text, at);
        at += point.size_bytes;
        if (is_control(point.value)) {
            line += ' ';
        } else if (!is_invisible(point.value)) {
            append_utf8(line, point.value);
        }
    }
    if (display_width(line) <= columns) return line;
    std::size_t width = 0;
    std::size_t end = 0;
    while (end < line.size()) {
        const CodePoint point = code_point_at(line, end);
        width += display_width(std::string_view(line).substr(end, point.size_bytes));
        if (width + 1 > columns) break;
        end += point.size_bytes;
    }
    return line.substr(0, end) + "…";
}

std::string padded_left(const std::string& text, std::size_t columns) {
    const std::size_t width = display_width(text);
    return std::string(columns > width ? columns - width : 0, ' ') + text;
}

std::string padded_right(const std::string& text, std::size_t columns) {
    const std::size_t width = display_width(text);
    return text + std::string(columns > width ? columns - width : 0, ' ');
}

bool is_listed(const Panel& panel) {
    std::size_t rows = 0;
    for (const Layer& layer : panel.layers) {
        rows += row_count(layer);
        if (rows > listed_max) return false;
        // Boxes share a line of values; they do not mix with bars, whose line begins at zero.
        if ((layer.kind == Kind::box) != (panel.layers.front().kind == Kind::box)) return false;
    }
    return rows > 0;
}

std::string listed_text(const Panel& panel, const TerminalOptions& options) {
    if (panel.layers.front().kind == Kind::box) return boxes_text(panel, options);
    std::vector<Row> rows;
    for (const Layer& layer : panel.layers) add_rows(rows, panel, layer);
    stand_together(rows);
    std::vector<std::string> names;
    double largest = 0;
    std::size_t value_columns = 0;
    for (const Row& row : rows) {
        names.push_back(row.name);
        if (std::isfinite(row.value)) largest = std::max(largest, std::abs(row.value));
        value_columns = std::max(value_columns, display_width(row.text));
    }
    const std::size_t name_columns = widest_name(names);
    const std::size_t used = name_columns + value_columns + 3;
    const std::size_t columns = options.columns > used + 10 ? options.columns - used : 10;
    std::string text;
    for (const Row& row : rows) {
        const double part = largest > 0 && std::isfinite(row.value)
                                ? std::abs(row.value) / largest * static_cast<double>(columns)
                                : 0;
        text += padded_left(fitted_columns(row.name, name_columns), name_columns) + " " +
                inked(blocks(part), row.color, options.ink) + " " + row.text + "\n";
    }
    return text;
}

bool is_shaded(const Panel& panel, const TerminalOptions& options) {
    if (panel.layers.size() != 1) return false;
    const Layer& layer = panel.layers.front();
    if (layer.kind != Kind::heatmap && layer.kind != Kind::hist2d) return false;
    const Grid& grid = layer.data.grid("v");
    return grid.rows > 0 && grid.rows <= 48 &&
           grid.columns * 2 + name_columns_max < options.columns;
}

std::string shaded_text(const Panel& panel, const TerminalOptions& options) {
    const Layer& layer = panel.layers.front();
    const Grid& grid = layer.data.grid("v");
    const auto found = extremes(grid.values);
    const ColorRamp ramp(panel.color, found ? grid.values[found->lowest] : 0,
                         found ? grid.values[found->highest] : 1);
    const auto names = [&](const char* cats, const char* edges, const Axis& axis,
                           std::size_t count) {
        std::vector<std::string> result = layer.data.texts(cats);
        const Column& borders = layer.data.numbers(edges);
        for (std::size_t i = result.size(); i < count; ++i) {
            result.push_back(i + 1 < borders.size()
                                 ? axis_value_text(axis, (borders[i] + borders[i + 1]) / 2, 4)
                                 : std::to_string(i));
        }
        return result;
    };
    const std::vector<std::string> rows = names("y_cats", "y_edges", panel.y, grid.rows);
    const std::vector<std::string> columns = names("x_cats", "x_edges", panel.x, grid.columns);
    const std::size_t name_columns = widest_name(rows);
    // As wide as the longest column name, where there is room for that.
    const std::size_t room =
        options.columns > name_columns + 2 ? options.columns - name_columns - 2 : 2;
    const std::size_t cell = std::clamp<std::size_t>(widest_name(columns) + 1, 2,
                                                     std::max<std::size_t>(room / grid.columns, 2));
    std::string text;
    for (std::size_t i = 0; i < grid.rows; ++i) {
        const std::size_t row = panel.y.inverted ? i : grid.rows - 1 - i;
        text += padded_left(fitted_columns(rows[row], name_columns), name_columns) + " ";
        for (std::size_t column = 0; column < grid.columns; ++column) {
            const double value = grid.at(row, column);
            const double part = (value - ramp.low()) / (ramp.high() - ramp.low());
            std::string filled;
            const auto shade = static_cast<std::size_t>(
                std::isfinite(part) ? std::lround(std::clamp(part, 0.0, 1.0) * 4) : 0);
            const bool colored = options.ink == TerminalOptions::Ink::colored;
            for (std::size_t k = 0; k < cell; ++k) {
                filled += !std::isfinite(value) ? " " : colored ? "█" : shades[shade];
            }
            text += inked(filled, ramp.color(value), options.ink);
        }
        text += "\n";
    }
    std::string below(name_columns + 1, ' ');
    for (const std::string& name : columns) {
        below += padded_right(fitted_columns(name, cell > 2 ? cell - 1 : cell), cell);
    }
    below.erase(below.find_last_not_of(' ') + 1);
    text += below + "\n";
    return text + "from " + short_number(ramp.low()) + " (light) to " + short_number(ramp.high()) +
           " (dark)\n";
}

}  // namespace cellblock::charts
