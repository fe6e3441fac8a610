// The model out of the guest's JSON (see model.h): figure, panels, axes, layers.
#include "charts/model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/limits.h"
#include "charts/json_fields.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

constexpr std::array<std::pair<Scale, std::string_view>, 10> scales{{
    {Scale::linear, "linear"},
    {Scale::log, "log"},
    {Scale::symlog, "symlog"},
    {Scale::logit, "logit"},
    {Scale::asinh, "asinh"},
    {Scale::datetime, "datetime"},
    {Scale::categorical, "categorical"},
    {Scale::function, "function"},
    {Scale::functionlog, "functionlog"},
    {Scale::unknown, "unknown"},
}};

Axis parse_axis(const Json& source) {
    Axis axis;
    axis.label = text_of(source, "label");
    axis.unit = text_of(source, "unit");
    const std::string scale = word_of(source, "scale");
    axis.scale = scale.empty() ? Scale::linear : Scale::unknown;
    for (const auto& [value, name] : scales) {
        if (name == scale) axis.scale = value;
    }
    axis.base = number_of(source, "base");
    axis.linthresh = number_of(source, "linthresh");
    axis.lim = numbers_of<2>(source, "lim");
    axis.inverted = flag_of(source, "inverted");
    axis.ticks = list_of(source, "ticks");
    axis.tick_labels = texts_of(source, "tick_labels");
    axis.tick_labels.resize(axis.ticks.size());
    axis.offset = text_of(source, "offset").value_or("");
    axis.categories = texts_of(source, "categories");
    axis.positions = list_of(source, "positions");
    if (axis.positions.size() != axis.categories.size()) {  // codes are 0..n-1 unless said
        axis.positions.clear();
        for (std::size_t i = 0; i < axis.categories.size(); ++i) {
            axis.positions.push_back(static_cast<double>(i));
        }
    }
    axis.tz = word_of(source, "tz");
    if (const auto minutes = number_of(source, "tz_offset_min")) {
        if (std::abs(*minutes) <= 24 * 60) axis.tz_offset_min = static_cast<int>(*minutes);
    }
    axis.date_only = flag_of(source, "date_only");
    axis.strings = flag_of(source, "strings");
    if (const Json* second = find(source, "secondary")) {
        const Json* map = find(*second, "map");
        if (map != nullptr && map->is_array() && map->size() == 2) {
            const auto first = numbers_of<2>(&(*map)[0]);
            const auto last = numbers_of<2>(&(*map)[1]);
            if (first && last)
                axis.secondary = Secondary{text_of(*second, "label"), {*first, *last}};
        }
    }
    return axis;
}

std::optional<Axis> optional_axis(const Json& panel, const char* name) {
    const Json* source = find(panel, name);
    return source != nullptr && source->is_object() ? std::optional(parse_axis(*source))
                                                    : std::nullopt;
}

std::optional<Legend> parse_legend(const Json& owner) {
    const Json* source = find(owner, "legend");
    if (source == nullptr || !source->is_object()) return std::nullopt;
    Legend legend;
    legend.title = text_of(*source, "title");
    if (const Json* entries = find(*source, "entries"); entries != nullptr && entries->is_array()) {
        for (const Json& entry : *entries) {
            if (legend.entries.size() >= limits::chart_layers_max) break;
            legend.entries.push_back(
                {text_of(entry, "label").value_or(""), color_of(entry), word_of(entry, "marker")});
        }
    }
    return legend;
}

std::optional<ColorScale> parse_color(const Json& panel) {
    const Json* source = find(panel, "color");
    if (source == nullptr || !source->is_object()) return std::nullopt;
    ColorScale scale;
    scale.label = text_of(*source, "label");
    scale.cmap = word_of(*source, "cmap");
    scale.scale = word_of(*source, "scale");
    scale.lim = numbers_of<2>(*source, "lim");
    scale.levels = list_of(*source, "levels");
    return scale;
}

Side parse_side(const Json& source) {
    const std::string side = word_of(source, "axis");
    return side == "y2" ? Side::y2 : side == "x2" ? Side::x2 : Side::y;
}

std::optional<Ref> parse_ref(const Json& source) {
    Ref ref;
    ref.side = parse_side(source);
    ref.label = text_of(source, "label");
    ref.color = color_of(source);
    const std::string kind = word_of(source, "kind");
    if (kind == "hline" || kind == "vline") {
        ref.kind = kind == "hline" ? Ref::Kind::hline : Ref::Kind::vline;
        const auto value = number_of(source, "value");
        if (!value) return std::nullopt;
        ref.value = *value;
    } else if (kind == "hspan" || kind == "vspan") {
        ref.kind = kind == "hspan" ? Ref::Kind::hspan : Ref::Kind::vspan;
        const auto low = number_of(source, "lo");
        const auto high = number_of(source, "hi");
        if (!low || !high) return std::nullopt;
        ref.lo = *low;
        ref.hi = *high;
    } else if (kind == "line") {
        ref.kind = Ref::Kind::line;
        const auto first = numbers_of<2>(source, "p1");
        const auto second = numbers_of<2>(source, "p2");
        if (!first || !second) return std::nullopt;
        ref.p1 = *first;
        ref.p2 = *second;
    } else {
        return std::nullopt;
    }
    return ref;
}

Style parse_style(const Json& layer) {
    Style style;
    const Json* source = find(layer, "style");
    if (source == nullptr) return style;
    style.marker = word_of(*source, "marker");
    style.line = word_of(*source, "line");
    style.hatch = word_of(*source, "hatch");
    style.width = number_of(*source, "width");
    style.alpha = number_of(*source, "alpha");
    style.size = number_of(*source, "size");
    style.segments = flag_of(*source, "segments");
    return style;
}

// A layer that does not fit its kind is kept as unknown, with the reason; a limit is an error.
Result<Layer> parse_layer(const Json& source) {
    if (!source.is_object()) return fail(ErrorCode::guest_protocol, "a chart layer is no object");
    Layer layer;
    layer.id = word_of(source, "id");
    layer.kind_name = word_of(source, "kind");
    const bool named = !layer.kind_name.empty();
    if (!named) layer.kind_name = "unknown";
    layer.kind = kind_from(layer.kind_name);
    if (layer.kind_name == "unknown") {  // as to_json writes a kind that we do not know
        if (const std::string name = word_of(source, "kind_name"); !name.empty())
            layer.kind_name = name;
    }
    layer.label = text_of(source, "label");
    layer.series = pairs_of(source, "series");
    layer.color = color_of(source);
    layer.side = parse_side(source);
    layer.orient = word_of(source, "orient") == "h" ? Orient::horizontal : Orient::vertical;
    layer.style = parse_style(source);
    layer.n = count_of(source, "n");
    layer.error = text_of(source, "error").value_or("");
    if (const Json* sampled = find(source, "sampled"); sampled != nullptr && sampled->is_object()) {
        layer.sampled = Sampled{word_of(*sampled, "method"), count_of(*sampled, "n").value_or(0)};
    }
    const Json* computed = find(source, "computed");
    layer.computed = computed == nullptr || !computed->is_boolean() || computed->get<bool>();
    if (layer.kind == Kind::unknown && layer.error.empty()) {
        if (layer.kind_name != "unknown") layer.error = "unknown kind";
        if (!named) layer.error = "the layer names no kind";
    }
    const Json* data = find(source, "data");
    auto parsed = parse_layer_data(layer.kind, data == nullptr ? Json::object() : *data);
    if (parsed) {
        layer.data = std::move(*parsed);
    } else if (parsed.error().code == ErrorCode::too_large) {
        return fail(parsed.error());
    } else {
        layer.kind = Kind::unknown;
        layer.error = clean_text(parsed.error().cause);
    }
    return layer;
}

Projection parse_projection(const Json& source) {
    const std::string name = word_of(source, "projection");
    if (name == "polar") return Projection::polar;
    if (name == "3d") return Projection::spatial;
    if (name == "geo") return Projection::geo;
    if (name == "none") return Projection::none;
    return Projection::cartesian;
}

std::optional<Cell> parse_cell(const Json& panel) {
    const Json* source = find(panel, "cell");
    if (source == nullptr) return std::nullopt;
    const auto part = [source](const char* name, std::uint32_t low) {
        const auto value = count_of(*source, name).value_or(low);
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(value, low, 999));
    };
    return Cell{part("row", 0), part("col", 0), part("rowspan", 1), part("colspan", 1)};
}

void parse_theta(const Json& source, Panel& panel) {
    const Json* theta = find(source, "theta");
    if (theta == nullptr) return;
    panel.theta_zero_deg = number_of(*theta, "zero_deg").value_or(0);
    panel.theta_direction = number_of(*theta, "direction").value_or(1) < 0 ? -1 : 1;
}

void parse_marks(const Json& source, Panel& panel) {
    if (const Json* refs = find(source, "refs"); refs != nullptr && refs->is_array()) {
        for (const Json& item : *refs) {
            if (panel.refs.size() >= limits::chart_layers_max) break;
            if (auto ref = parse_ref(item)) panel.refs.push_back(std::move(*ref));
        }
    }
    if (const Json* notes = find(source, "notes"); notes != nullptr && notes->is_array()) {
        for (const Json& item : *notes) {
            if (panel.notes.size() >= limits::chart_layers_max) break;
            if (auto text = text_of(item, "text")) {
                panel.notes.push_back(
                    {*text, numbers_of<2>(item, "at"), numbers_of<2>(item, "axes")});
            }
        }
    }
}

// Counts what the panels take from the figure's budget.
struct Budget {
    std::size_t layers = 0;
    std::size_t values = 0;
    std::set<std::string> ids;
};

Result<Panel> parse_panel(const Json& source, Budget& budget) {
    if (!source.is_object()) return fail(ErrorCode::guest_protocol, "a chart panel is no object");
    Panel panel;
    panel.id = word_of(source, "id");
    if (panel.id.empty() || !budget.ids.insert(panel.id).second) {
        return fail(ErrorCode::guest_protocol, "a chart panel has no id of its own");
    }
    panel.title = text_of(source, "title");
    panel.cell = parse_cell(source);
    panel.bounds = numbers_of<4>(source, "bounds");
    panel.inset_of = word_of(source, "inset_of");
    panel.facet = pairs_of(source, "facet");
    panel.projection = parse_projection(source);
    panel.x = optional_axis(source, "x").value_or(Axis{});
    panel.y = optional_axis(source, "y").value_or(Axis{});
    panel.x2 = optional_axis(source, "x2");
    panel.y2 = optional_axis(source, "y2");
    panel.z = optional_axis(source, "z");
    panel.color = parse_color(source);
    panel.legend = parse_legend(source);
    panel.shares_x = texts_of(source, "shares_x");
    panel.shares_y = texts_of(source, "shares_y");
    parse_theta(source, panel);
    parse_marks(source, panel);
    const Json* layers = find(source, "layers");
    if (layers == nullptr || !layers->is_array()) {
        return fail(ErrorCode::guest_protocol, "a chart panel has no list of layers");
    }
    for (const Json& item : *layers) {
        if (++budget.layers > limits::chart_layers_max) {
            return fail(
                ErrorCode::too_large,
                "a chart has more than " + std::to_string(limits::chart_layers_max) + " layers");
        }
        CB_TRY_ASSIGN(layer, parse_layer(item));
        if (layer.id.empty() || !budget.ids.insert(layer.id).second) {
            return fail(ErrorCode::guest_protocol, "a chart layer has no id of its own");
        }
        budget.values += layer.data.values();
        if (budget.values > limits::chart_figure_values_max) {
            return fail(ErrorCode::too_large,
                        "a chart has more than " + std::to_string(limits::chart_figure_values_max) +
                            " values",
                        "Plot fewer points.");
        }
        panel.layers.push_back(std::move(layer));
    }
    return panel;
}

// References between panels that lead nowhere are dropped.
void resolve(Figure& figure) {
    std::set<std::string> known;
    for (const Panel& panel : figure.panels) known.insert(panel.id);
    for (Panel& panel : figure.panels) {
        if (!known.contains(panel.inset_of) || panel.inset_of == panel.id) panel.inset_of.clear();
        const auto lost = [&known](const std::string& id) { return !known.contains(id); };
        std::erase_if(panel.shares_x, lost);
        std::erase_if(panel.shares_y, lost);
    }
}

}  // namespace

std::string_view to_string(Scale scale) {
    for (const auto& [value, name] : scales) {
        if (value == scale) return name;
    }
    return "unknown";
}

Result<Figure> parse_figure(const Json& value) {
    if (!value.is_object()) return fail(ErrorCode::guest_protocol, "a chart is no JSON object");
    if (const auto version = count_of(value, "v"); !version || *version != 1) {
        return fail(ErrorCode::not_supported, "a chart has a model version that is not 1",
                    "Build the template again, so that guest and gateway agree.");
    }
    Figure figure;
    figure.id = word_of(value, "id");
    figure.title = text_of(value, "title");
    if (const Json* source = find(value, "source")) {
        figure.library = word_of(*source, "lib");
        figure.library_version = word_of(*source, "version");
    }
    figure.size_px = numbers_of<2>(value, "size_px");
    if (const Json* layout = find(value, "layout")) {
        const auto part = [layout](const char* name) {
            const auto value = count_of(*layout, name).value_or(1);
            return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(value, 1, 999));
        };
        figure.rows = part("rows");
        figure.columns = part("cols");
    }
    figure.legend = parse_legend(value);
    figure.warnings = texts_of(value, "warnings");
    figure.partial = flag_of(value, "partial");
    const Json* panels = find(value, "panels");
    if (panels == nullptr || !panels->is_array()) {
        return fail(ErrorCode::guest_protocol, "a chart has no list of panels");
    }
    if (panels->size() > limits::chart_panels_max) {
        return fail(ErrorCode::too_large, "a chart has more than " +
                                              std::to_string(limits::chart_panels_max) + " panels");
    }
    Budget budget;
    for (const Json& item : *panels) {
        CB_TRY_ASSIGN(panel, parse_panel(item, budget));
        figure.panels.push_back(std::move(panel));
    }
    resolve(figure);
    return figure;
}

Result<Figure> parse_figure(std::string_view text) {
    const JsonLimits bounds{limits::chart_json_max_bytes, limits::chart_json_max_depth};
    CB_TRY_ASSIGN(value, parse_json(text, bounds, "a chart"));
    return parse_figure(value);
}

const Axis& x_axis(const Panel& panel, const Layer& layer) {
    return layer.side == Side::x2 && panel.x2 ? *panel.x2 : panel.x;
}

const Axis& y_axis(const Panel& panel, const Layer& layer) {
    return layer.side == Side::y2 && panel.y2 ? *panel.y2 : panel.y;
}

const Axis& position_axis(const Panel& panel, const Layer& layer) {
    return layer.orient == Orient::vertical ? x_axis(panel, layer) : y_axis(panel, layer);
}

const Axis& value_axis(const Panel& panel, const Layer& layer) {
    return layer.orient == Orient::vertical ? y_axis(panel, layer) : x_axis(panel, layer);
}

}  // namespace cellblock::charts
