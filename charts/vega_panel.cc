// A panel's frame: its axes, colours and legend, references and notes, and the specification that
// holds the layers (see vega_panel.h; the layers themselves are in vega_marks.cc).
#include "charts/vega_panel.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "charts/text.h"

namespace cellblock::charts {

namespace {

bool needs_numbers(const Panel& panel) {
    return std::any_of(panel.layers.begin(), panel.layers.end(), [](const Layer& layer) {
        return layer.kind == Kind::violin || layer.kind == Kind::boxen;
    });
}

Position::Categories categories_of(const Panel& panel) {
    return needs_numbers(panel) ? Position::Categories::numeric : Position::Categories::bands;
}

std::optional<Position> optional_position(const std::optional<Axis>& axis,
                                          Position::Categories categories, Position::Runs runs) {
    if (!axis) return std::nullopt;
    return std::optional<Position>(std::in_place, *axis, categories, runs);
}

struct Scheme {
    std::string_view matplotlib, vega;
    bool reverse;
};
constexpr Scheme schemes[] = {
    {"viridis", "viridis", false},
    {"plasma", "plasma", false},
    {"inferno", "inferno", false},
    {"magma", "magma", false},
    {"cividis", "cividis", false},
    {"turbo", "turbo", false},
    {"jet", "turbo", false},
    {"coolwarm", "redblue", true},
    {"bwr", "redblue", true},
    {"seismic", "redblue", true},
    {"RdBu", "redblue", false},
    {"RdYlBu", "redyellowblue", false},
    {"RdYlGn", "redyellowgreen", false},
    {"Spectral", "spectral", false},
    {"PiYG", "pinkyellowgreen", false},
    {"Blues", "blues", false},
    {"Greens", "greens", false},
    {"Reds", "reds", false},
    {"Oranges", "oranges", false},
    {"Purples", "purples", false},
    {"Greys", "greys", false},
    {"gray", "greys", true},
    {"YlGnBu", "yellowgreenblue", false},
    {"YlOrRd", "yelloworangered", false},
    {"YlGn", "yellowgreen", false},
    {"BuGn", "bluegreen", false},
    {"PuBu", "purpleblue", false},
    {"rocket", "magma", false},
    {"mako", "viridis", false},
    {"hot", "inferno", false},
};

}  // namespace

VegaPanel::VegaPanel(const Panel& panel, double width, double height)
    : panel_(panel),
      width_(width),
      height_(height),
      x_(panel.x, categories_of(panel), Position::Runs::right),
      y_(panel.y, categories_of(panel), Position::Runs::up),
      x2_(optional_position(panel.x2, categories_of(panel), Position::Runs::right)),
      y2_(optional_position(panel.y2, categories_of(panel), Position::Runs::up)) {
    std::vector<std::pair<std::string, std::string>> named;
    for (const Layer& layer : panel.layers) {
        if (!layer.label || layer.color.empty() || layer.kind == Kind::pie) continue;
        const std::string tint = layer.color.substr(0, 7);
        if (color_of_.emplace(*layer.label, tint).second) named.emplace_back(*layer.label, tint);
    }
    if (named.size() < 2 && !panel.legend) color_of_.clear();
    if (!color_of_.empty()) {
        for (auto& [name, tint] : named) {
            series_.push_back(name);
            colors_.push_back(tint);
        }
    }
    for (const Layer& layer : panel.layers) {
        if (layer.kind != Kind::bar && layer.kind != Kind::box) continue;
        for (const double position : layer.data.numbers("pos")) {
            const double offset = frame(layer).along.offset(position);
            const auto same = [offset](double known) { return std::abs(known - offset) < 0.02; };
            if (std::none_of(offsets_.begin(), offsets_.end(), same)) offsets_.push_back(offset);
        }
    }
    std::sort(offsets_.begin(), offsets_.end());
    if (offsets_.size() > 50) offsets_.clear();  // no groups: bars at any place
}

const Position& VegaPanel::x_of(const Layer& layer) const {
    return layer.side == Side::x2 && x2_ ? *x2_ : x_;
}
const Position& VegaPanel::y_of(const Layer& layer) const {
    return layer.side == Side::y2 && y2_ ? *y2_ : y_;
}

VegaPanel::Frame VegaPanel::frame(const Layer& layer) const {
    if (layer.orient == Orient::vertical) return {x_of(layer), y_of(layer), "x", "y"};
    return {y_of(layer), x_of(layer), "y", "x"};
}

Json VegaPanel::series_color(const Layer& layer) const {
    if (layer.label) {
        const auto known = color_of_.find(*layer.label);
        if (known != color_of_.end() && known->second == layer.color.substr(0, 7)) {
            const auto& legend = panel_.legend;
            return {{"field", "series"},
                    {"type", "nominal"},
                    {"scale", {{"domain", series_}, {"range", colors_}}},
                    {"title", legend && legend->title ? Json(*legend->title) : Json()}};
        }
    }
    return {{"value", layer.color.empty() ? std::string("#4c78a8") : layer.color.substr(0, 7)}};
}

Json VegaPanel::value_color(const char* field) const {
    Json scale{{"scheme", "viridis"}};
    Json title;
    if (panel_.color) {
        std::string name = panel_.color->cmap;
        bool reverse = false;
        if (name.ends_with("_r")) {
            name.resize(name.size() - 2);
            reverse = true;
        }
        for (const Scheme& scheme : schemes) {
            if (scheme.matplotlib != name) continue;
            scale["scheme"] = scheme.vega;
            reverse = reverse != scheme.reverse;
        }
        if (reverse) scale["reverse"] = true;
        const auto& lim = panel_.color->lim;
        const bool log = panel_.color->scale == "log" && lim && (*lim)[0] > 0;
        if (log) scale["type"] = "log";
        if (lim && (*lim)[0] < (*lim)[1]) scale["domain"] = *lim;
        if (panel_.color->label) title = *panel_.color->label;
    }
    return {{"field", field},
            {"type", "quantitative"},
            {"scale", std::move(scale)},
            {"title", std::move(title)}};
}

void VegaPanel::add(const Layer* layer, Unit unit) {
    if (unit.rows.empty()) return;
    const Side side = layer == nullptr ? Side::y : layer->side;
    const Json color = unit.encoding.value("color", Json::object());
    if (color.value("field", "") == "series" && layer != nullptr) {
        for (Json& row : unit.rows) row["series"] = layer->label.value_or("");
    }
    // Vega-Lite merges the scales of layers, but takes equal time domains for different ones: said
    // once.
    for (const char* name : {"x", "y"}) {
        if (!unit.encoding.contains(name) || unit.encoding[name].value("type", "") != "temporal")
            continue;
        const bool second = side == (name[0] == 'x' ? Side::x2 : Side::y2);
        if (!timed_.insert(std::string(name) + (second ? "2" : "")).second) {
            unit.encoding[name]["scale"].erase("domain");
        }
    }
    Json& units = drawn_.try_emplace(side, Json::array()).first->second;
    units.push_back({{"data", {{"values", std::move(unit.rows)}}},
                     {"mark", std::move(unit.mark)},
                     {"encoding", std::move(unit.encoding)}});
}

void VegaPanel::refs() {
    for (const Ref& ref : panel_.refs) {
        const Position& y = ref.side == Side::y2 && y2_ ? *y2_ : y_;
        const Position& x = ref.side == Side::x2 && x2_ ? *x2_ : x_;
        const std::string color = ref.color.empty() ? "#888888" : ref.color.substr(0, 7);
        Unit unit;
        switch (ref.kind) {
            case Ref::Kind::hline:
            case Ref::Kind::vline: {
                const bool level = ref.kind == Ref::Kind::hline;
                const Position& axis = level ? y : x;
                if (axis.value(ref.value).is_null()) continue;
                unit.rows.push_back({{"a", axis.value(ref.value)}});
                unit.mark = {{"type", "rule"}, {"color", color}, {"strokeDash", {4, 4}}};
                unit.encoding[level ? "y" : "x"] = axis.channel("a");
                break;
            }
            case Ref::Kind::hspan:
            case Ref::Kind::vspan: {
                const bool level = ref.kind == Ref::Kind::hspan;
                const Position& axis = level ? y : x;
                if (axis.nominal() || axis.value(ref.lo).is_null() || axis.value(ref.hi).is_null())
                    continue;
                unit.rows.push_back({{"a", axis.value(ref.lo)}, {"b", axis.value(ref.hi)}});
                unit.mark = {{"type", "rect"}, {"color", color}, {"opacity", 0.25}, {"clip", true}};
                unit.encoding[level ? "y" : "x"] = axis.channel("a");
                unit.encoding[level ? "y2" : "x2"] = {{"field", "b"}};
                break;
            }
            case Ref::Kind::line: {
                if (!panel_.x.lim || x.nominal() || y.nominal() || ref.p2[0] == ref.p1[0]) continue;
                const double slope = (ref.p2[1] - ref.p1[1]) / (ref.p2[0] - ref.p1[0]);
                for (const double end : *panel_.x.lim) {
                    unit.rows.push_back({{"x", x.value(end)},
                                         {"y", y.value(ref.p1[1] + slope * (end - ref.p1[0]))}});
                }
                unit.mark = {
                    {"type", "line"}, {"color", color}, {"strokeDash", {4, 4}}, {"clip", true}};
                unit.encoding = {{"x", x.channel("x")}, {"y", y.channel("y")}};
                break;
            }
        }
        Layer owner;
        owner.side = ref.side;
        add(&owner, std::move(unit));
    }
}

void VegaPanel::notes() {
    Unit unit;
    for (const Note& note : panel_.notes) {
        if (!note.at) continue;
        Json x = x_.value((*note.at)[0]), y = y_.value((*note.at)[1]);
        if (x.is_null() || y.is_null()) continue;
        unit.rows.push_back({{"x", std::move(x)}, {"y", std::move(y)}, {"text", note.text}});
    }
    unit.mark = {{"type", "text"}, {"align", "left"}, {"dx", 4}, {"dy", -6}};
    unit.encoding = {{"x", x_.channel("x")},
                     {"y", y_.channel("y")},
                     {"text", {{"field", "text"}, {"type", "nominal"}}}};
    add(nullptr, std::move(unit));
}

// Categories on an axis of numbers get their names as marks: an axis' labels could only be set by
// an expression.
void VegaPanel::category_labels() {
    const auto label = [this](const Position& axis, const char* name, const char* other) {
        if (axis.nominal() || axis.axis().scale != Scale::categorical) return;
        Unit unit;
        for (std::size_t i = 0; i < axis.axis().categories.size() && i < 200; ++i) {
            unit.rows.push_back({{name, axis.value(axis.axis().positions[i])},
                                 {"text", axis.axis().categories[i]}});
        }
        Json channel = axis.channel(name);
        channel["axis"] = {
            {"labels", false}, {"ticks", false}, {"grid", false}, {"titlePadding", 20}};
        const bool below = std::string_view(name) == "x";
        unit.mark = {{"type", "text"},
                     {"baseline", below ? "top" : "middle"},
                     {"align", below ? "center" : "right"},
                     {below ? "dy" : "dx", below ? 6 : -6}};
        unit.encoding = {{name, std::move(channel)},
                         {other, {{"value", below ? Json("height") : Json(0)}}},
                         {"text", {{"field", "text"}, {"type", "nominal"}}}};
        add(nullptr, std::move(unit));
    };
    label(x_, "x", "y");
    label(y_, "y", "x");
}

void VegaPanel::say_not_drawn() {
    if (!drawn_.empty()) return;
    drawn_nothing_ = true;
    Unit unit;
    unit.rows.push_back({{"text", "This chart has no Vega-Lite form; see its picture and data."}});
    unit.mark = {{"type", "text"}, {"color", "#666666"}};
    unit.encoding["text"] = {{"field", "text"}, {"type", "nominal"}};
    add(nullptr, std::move(unit));
}

Json VegaPanel::spec() {
    if (panel_.projection == Projection::cartesian) refs();
    for (const Layer& item : panel_.layers) layer(item);
    if (panel_.projection == Projection::cartesian && !pie_) {
        notes();
        if (!drawn_.empty()) category_labels();
    }
    say_not_drawn();
    Json spec{{"width", width_},
              {"height", pie_ || panel_.projection == Projection::polar ? width_ : height_}};
    if (panel_.title) spec["title"] = *panel_.title;
    Json independent = Json::object();
    if (mapped_ && !series_.empty()) independent["color"] = "independent";
    if (drawn_.size() == 1) {
        spec["layer"] = std::move(drawn_.begin()->second);
    } else {
        Json groups = Json::array();
        for (auto& [side, units] : drawn_) {
            if (side == Side::y2) independent["y"] = "independent";
            if (side == Side::x2) independent["x"] = "independent";
            groups.push_back({{"layer", std::move(units)}});
        }
        spec["layer"] = std::move(groups);
    }
    if (offsets_.size() > 1 || !independent.empty()) {
        spec["resolve"] = {{"scale", independent}};
        if (independent.empty()) spec.erase("resolve");
    }
    return spec;
}

}  // namespace cellblock::charts
