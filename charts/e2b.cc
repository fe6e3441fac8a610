// Figure -> E2B's chart schema (see e2b.h). Its SDK reads every key by name, so none may be absent;
// keys of ours (`kind`, `base`, `err`) are additions that it ignores.
#include "charts/e2b.h"

#include <cmath>
#include <string_view>

#include "charts/text.h"

namespace cellblock::charts {

namespace {

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json();
}
Json or_null(const std::optional<std::string>& text) {
    return text ? Json(*text) : Json();
}

std::string_view type_of(const Layer& layer) {
    switch (layer.kind) {
        case Kind::line:
        case Kind::step:
            return layer.style.segments ? "unknown" : "line";
        case Kind::ecdf:
        case Kind::kde:
        case Kind::area:
            return "line";
        case Kind::errorbar:
            return layer.style.line == "none" ? "scatter" : "line";
        case Kind::scatter:
            return "scatter";
        case Kind::bar:
        case Kind::hist:
            return "bar";
        case Kind::pie:
            return "pie";
        case Kind::box:
            return "box_and_whisker";
        default:
            return "unknown";
    }
}

// Mixtures are what their first recognised layer is: a regression line does not hide its points.
std::string_view type_of(const Panel& panel) {
    if (panel.projection != Projection::cartesian) return "unknown";
    for (const Layer& layer : panel.layers) {
        if (type_of(layer) != "unknown") return type_of(layer);
    }
    return "unknown";
}

// A coordinate as Python's repr of the plotted value: ISO times, the strings of a category axis.
Json coordinate(const Axis& axis, double value) {
    if (!std::isfinite(value)) return nullptr;
    if (axis.scale == Scale::datetime) {
        std::string text = axis_time(axis, value);
        if (!text.empty()) return text;
    }
    if (axis.strings) {
        for (std::size_t i = 0; i < axis.categories.size(); ++i) {
            if (axis.positions[i] == value) return axis.categories[i];
        }
    }
    return value;
}

Json points_of(const Panel& panel, const Layer& layer, const Column& x, const Column& y) {
    Json points = Json::array();
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        points.push_back(Json::array(
            {coordinate(x_axis(panel, layer), x[i]), coordinate(y_axis(panel, layer), y[i])}));
    }
    return points;
}

Json point_elements(const Panel& panel, std::string_view type) {
    Json elements = Json::array();
    for (std::size_t i = 0; i < panel.layers.size(); ++i) {
        const Layer& layer = panel.layers[i];
        if (type_of(layer) != type) continue;
        const std::string fallback = (type == "line" ? "Line " : "Scatter ") + std::to_string(i);
        const Column& x = layer.data.numbers("x");
        const Column& y = layer.data.numbers(layer.kind == Kind::area ? "hi" : "y");
        const bool lying = layer.kind == Kind::area && layer.orient == Orient::horizontal;
        elements.push_back(
            {{"label", layer.label.value_or(fallback)},
             {"points", lying ? points_of(panel, layer, y, x) : points_of(panel, layer, x, y)}});
    }
    return elements;
}

std::string bar_label(const Axis& axis, const Layer& layer, std::size_t i) {
    const Column& categories = layer.data.numbers("cat");
    if (i < categories.size() && categories[i] >= 0) {
        const auto index = static_cast<std::size_t>(categories[i]);
        if (index < axis.categories.size()) return axis.categories[index];
    }
    const auto& labels = layer.data.texts("label");
    if (i < labels.size() && !labels[i].empty()) return labels[i];
    const double position = layer.data.numbers("pos")[i];
    for (std::size_t tick = 0; tick < axis.ticks.size(); ++tick) {
        const double slack = 1e-9 * std::max(1.0, std::abs(position));
        if (std::abs(axis.ticks[tick] - position) <= slack && !axis.tick_labels[tick].empty()) {
            return axis.tick_labels[tick];
        }
    }
    return axis_value_text(axis, position);
}

void add_bars(const Panel& panel, const Layer& layer, const std::string& group, Json& elements) {
    const Axis& axis = position_axis(panel, layer);
    const Column& value = layer.data.numbers("value");
    const Column& base = layer.data.numbers("base");
    const Column& low = layer.data.numbers("err_lo");
    const Column& high = layer.data.numbers("err_hi");
    for (std::size_t i = 0; i < value.size(); ++i) {
        Json element{
            {"label", bar_label(axis, layer, i)}, {"group", group}, {"value", number(value[i])}};
        if (i < base.size()) element["base"] = number(base[i]);
        if (!low.empty()) element["err"] = {number(low[i]), number(high[i])};
        elements.push_back(std::move(element));
    }
}

void add_bins(const Panel& panel, const Layer& layer, const std::string& group, Json& elements) {
    const Axis& axis = position_axis(panel, layer);
    const Column& edges = layer.data.numbers("edges");
    const Column& count = layer.data.numbers("count");
    for (std::size_t i = 0; i < count.size(); ++i) {
        elements.push_back({{"label", axis_value_text(axis, edges[i]) + " to " +
                                          axis_value_text(axis, edges[i + 1])},
                            {"group", group},
                            {"value", number(count[i])}});
    }
}

Json bar_elements(const Panel& panel) {
    Json elements = Json::array();
    std::size_t serial = 0;
    for (const Layer& layer : panel.layers) {
        if (type_of(layer) != "bar") continue;
        const std::string group = layer.label.value_or("Group " + std::to_string(serial++));
        if (layer.kind == Kind::bar) {
            add_bars(panel, layer, group, elements);
        } else {
            add_bins(panel, layer, group, elements);
        }
    }
    return elements;
}

Json pie_elements(const Panel& panel) {
    Json elements = Json::array();
    for (const Layer& layer : panel.layers) {
        if (layer.kind != Kind::pie) continue;
        const auto& labels = layer.data.texts("label");
        const Column& share = layer.data.numbers("frac");
        const Column& radius = layer.data.numbers("r");
        for (std::size_t i = 0; i < labels.size(); ++i) {
            elements.push_back({{"label", labels[i]},
                                {"angle", std::round(share[i] * 360.0)},
                                {"radius", radius.empty() ? Json(1) : number(radius[i])}});
        }
    }
    return elements;
}

Json box_elements(const Panel& panel) {
    Json elements = Json::array();
    for (const Layer& layer : panel.layers) {
        if (layer.kind != Kind::box) continue;
        const LayerData& data = layer.data;
        const auto& labels = data.texts("label");
        for (std::size_t i = 0; i < labels.size(); ++i) {
            Json outliers = Json::array();
            if (!data.lists("outliers").empty()) {
                for (const double value : data.lists("outliers")[i])
                    outliers.push_back(number(value));
            }
            elements.push_back({{"label", labels[i]},
                                {"min", number(data.numbers("min")[i])},
                                {"first_quartile", number(data.numbers("q1")[i])},
                                {"median", number(data.numbers("median")[i])},
                                {"third_quartile", number(data.numbers("q3")[i])},
                                {"max", number(data.numbers("max")[i])},
                                {"outliers", std::move(outliers)}});
        }
    }
    return elements;
}

void put_ticks(Json& chart, const char* name, const Axis& axis) {
    Json ticks = Json::array();
    for (const double tick : axis.ticks) {
        if (axis.scale == Scale::datetime) {
            ticks.push_back(iso_time(tick, TimeStyle::with_offset, axis.tz_offset_min.value_or(0)));
        } else {
            ticks.push_back(number(tick));
        }
    }
    const std::string prefix = name;
    chart[prefix + "_ticks"] = std::move(ticks);
    chart[prefix + "_tick_labels"] = axis.tick_labels;
    chart[prefix + "_scale"] = to_string(axis.scale);
}

// E2B names the axes of lying bars and boxes by what they mean, not by where they are.
bool lies(const Panel& panel, std::string_view type) {
    for (const Layer& layer : panel.layers) {
        if (type_of(layer) == type) return layer.orient == Orient::horizontal;
    }
    return false;
}

std::string kind_of(const Panel& panel) {
    if (panel.layers.empty()) return "empty";
    const Layer& first = panel.layers.front();
    return first.kind == Kind::unknown && !first.kind_name.empty()
               ? first.kind_name
               : std::string(to_string(first.kind));
}

Json chart_of(const Panel& panel, const std::optional<std::string>& figure_title) {
    const std::string_view type = type_of(panel);
    Json chart{{"type", type},
               {"title", or_null(panel.title ? panel.title : figure_title)},
               {"elements", Json::array()},
               {"kind", kind_of(panel)}};
    if (type == "unknown") return chart;
    if (type == "pie") {
        chart["elements"] = pie_elements(panel);
        return chart;
    }
    const bool planar = type == "line" || type == "scatter";
    const bool swapped = !planar && lies(panel, type);
    const Axis& x = swapped ? panel.y : panel.x;
    const Axis& y = swapped ? panel.x : panel.y;
    chart["x_label"] = or_null(x.label);
    chart["y_label"] = or_null(y.label);
    chart["x_unit"] = or_null(x.unit);
    chart["y_unit"] = or_null(y.unit);
    if (planar) {
        put_ticks(chart, "x", panel.x);
        put_ticks(chart, "y", panel.y);
        chart["elements"] = point_elements(panel, type);
    } else {
        chart["elements"] = type == "bar" ? bar_elements(panel) : box_elements(panel);
    }
    return chart;
}

}  // namespace

Json to_e2b(const Figure& figure) {
    if (figure.panels.empty()) {
        if (figure.warnings.empty()) return Json::object();
        // Something was drawn and could not be read: never silence.
        return {{"type", "unknown"},
                {"title", or_null(figure.title)},
                {"elements", Json::array()},
                {"kind", "unknown"}};
    }
    if (figure.panels.size() == 1) return chart_of(figure.panels.front(), figure.title);
    Json charts = Json::array();
    for (const Panel& panel : figure.panels) charts.push_back(chart_of(panel, std::nullopt));
    return {
        {"type", "superchart"}, {"title", or_null(figure.title)}, {"elements", std::move(charts)}};
}

}  // namespace cellblock::charts
