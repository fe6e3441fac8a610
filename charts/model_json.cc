// The model back to JSON (see model.h): the guest's format, checked, with plain lists.
#include "charts/model.h"

namespace cellblock::charts {

namespace {

template <typename T>
void put(Json& object, const char* name, const std::optional<T>& value) {
    if (value) object[name] = *value;
}

void put_word(Json& object, const char* name, const std::string& value) {
    if (!value.empty()) object[name] = value;
}

Json axis_json(const Axis& axis) {
    Json result{{"label", axis.label ? Json(*axis.label) : Json()},
                {"unit", axis.unit ? Json(*axis.unit) : Json()},
                {"scale", to_string(axis.scale)},
                {"inverted", axis.inverted},
                {"ticks", column_json(axis.ticks)},
                {"tick_labels", axis.tick_labels}};
    put(result, "lim", axis.lim);
    put(result, "base", axis.base);
    put(result, "linthresh", axis.linthresh);
    put_word(result, "offset", axis.offset);
    if (!axis.categories.empty()) {
        result["categories"] = axis.categories;
        result["positions"] = column_json(axis.positions);
        if (axis.strings) result["strings"] = true;
    }
    if (axis.scale == Scale::datetime) {
        result["unit_time"] = "ms";
        put_word(result, "tz", axis.tz);
        put(result, "tz_offset_min", axis.tz_offset_min);
        if (axis.date_only) result["date_only"] = true;
    }
    if (axis.secondary) {
        result["secondary"] = {
            {"label", axis.secondary->label ? Json(*axis.secondary->label) : Json()},
            {"map", axis.secondary->map}};
    }
    return result;
}

Json legend_json(const Legend& legend) {
    Json entries = Json::array();
    for (const LegendEntry& entry : legend.entries) {
        Json item{{"label", entry.label}};
        put_word(item, "color", entry.color);
        put_word(item, "marker", entry.marker);
        entries.push_back(std::move(item));
    }
    return {{"title", legend.title ? Json(*legend.title) : Json()},
            {"entries", std::move(entries)}};
}

const char* side_name(Side side) {
    return side == Side::y2 ? "y2" : side == Side::x2 ? "x2" : "y";
}

Json layer_json(const Layer& layer) {
    Json result{{"id", layer.id},
                {"kind", to_string(layer.kind)},
                {"data", to_json(layer.data, layer.kind)}};
    if (layer.kind == Kind::unknown && layer.kind_name != "unknown")
        result["kind_name"] = layer.kind_name;
    put(result, "label", layer.label);
    if (!layer.series.empty()) result["series"] = layer.series;
    put_word(result, "color", layer.color);
    if (layer.side != Side::y) result["axis"] = side_name(layer.side);
    result["orient"] = layer.orient == Orient::vertical ? "v" : "h";
    Json style = Json::object();
    put_word(style, "marker", layer.style.marker);
    put_word(style, "line", layer.style.line);
    put_word(style, "hatch", layer.style.hatch);
    put(style, "width", layer.style.width);
    put(style, "alpha", layer.style.alpha);
    put(style, "size", layer.style.size);
    if (layer.style.segments) style["segments"] = true;
    if (!style.empty()) result["style"] = std::move(style);
    put(result, "n", layer.n);
    if (layer.sampled) {
        result["sampled"] = {{"method", layer.sampled->method}, {"n", layer.sampled->kept}};
    }
    if (!layer.computed) result["computed"] = false;
    put_word(result, "error", layer.error);
    return result;
}

Json ref_json(const Ref& ref) {
    Json result = Json::object();
    switch (ref.kind) {
        case Ref::Kind::hline:
            result = {{"kind", "hline"}, {"value", ref.value}};
            break;
        case Ref::Kind::vline:
            result = {{"kind", "vline"}, {"value", ref.value}};
            break;
        case Ref::Kind::hspan:
            result = {{"kind", "hspan"}, {"lo", ref.lo}, {"hi", ref.hi}};
            break;
        case Ref::Kind::vspan:
            result = {{"kind", "vspan"}, {"lo", ref.lo}, {"hi", ref.hi}};
            break;
        case Ref::Kind::line:
            result = {{"kind", "line"}, {"p1", ref.p1}, {"p2", ref.p2}};
            break;
    }
    put(result, "label", ref.label);
    put_word(result, "color", ref.color);
    if (ref.side != Side::y) result["axis"] = side_name(ref.side);
    return result;
}

const char* projection_name(Projection projection) {
    switch (projection) {
        case Projection::cartesian:
            return "cartesian";
        case Projection::polar:
            return "polar";
        case Projection::spatial:
            return "3d";
        case Projection::geo:
            return "geo";
        case Projection::none:
            return "none";
    }
    return "none";
}

void put_places(Json& result, const Panel& panel) {
    if (panel.cell) {
        result["cell"] = {{"row", panel.cell->row},
                          {"col", panel.cell->column},
                          {"rowspan", panel.cell->row_span},
                          {"colspan", panel.cell->column_span}};
    }
    put(result, "bounds", panel.bounds);
    put_word(result, "inset_of", panel.inset_of);
    if (!panel.facet.empty()) result["facet"] = panel.facet;
    if (!panel.shares_x.empty()) result["shares_x"] = panel.shares_x;
    if (!panel.shares_y.empty()) result["shares_y"] = panel.shares_y;
}

Json panel_json(const Panel& panel) {
    Json result{{"id", panel.id},
                {"title", panel.title ? Json(*panel.title) : Json()},
                {"projection", projection_name(panel.projection)},
                {"x", axis_json(panel.x)},
                {"y", axis_json(panel.y)}};
    put_places(result, panel);
    if (panel.x2) result["x2"] = axis_json(*panel.x2);
    if (panel.y2) result["y2"] = axis_json(*panel.y2);
    if (panel.z) result["z"] = axis_json(*panel.z);
    if (panel.color) {
        Json color{{"label", panel.color->label ? Json(*panel.color->label) : Json()},
                   {"cmap", panel.color->cmap},
                   {"scale", panel.color->scale}};
        put(color, "lim", panel.color->lim);
        if (!panel.color->levels.empty()) color["levels"] = column_json(panel.color->levels);
        result["color"] = std::move(color);
    }
    if (panel.projection == Projection::polar) {
        result["theta"] = {{"zero_deg", panel.theta_zero_deg},
                           {"direction", panel.theta_direction}};
    }
    Json layers = Json::array(), refs = Json::array(), notes = Json::array();
    for (const Layer& layer : panel.layers) layers.push_back(layer_json(layer));
    for (const Ref& ref : panel.refs) refs.push_back(ref_json(ref));
    for (const Note& note : panel.notes) {
        Json item{{"text", note.text}};
        put(item, "at", note.at);
        put(item, "axes", note.axes);
        notes.push_back(std::move(item));
    }
    result["layers"] = std::move(layers);
    result["refs"] = std::move(refs);
    result["notes"] = std::move(notes);
    if (panel.legend) result["legend"] = legend_json(*panel.legend);
    return result;
}

}  // namespace

Json to_json(const Figure& figure) {
    Json result{{"v", 1},
                {"kind", "figure"},
                {"id", figure.id},
                {"title", figure.title ? Json(*figure.title) : Json()},
                {"source", {{"lib", figure.library}, {"version", figure.library_version}}},
                {"layout", {{"rows", figure.rows}, {"cols", figure.columns}}},
                {"warnings", figure.warnings}};
    put(result, "size_px", figure.size_px);
    if (figure.legend) result["legend"] = legend_json(*figure.legend);
    if (figure.partial) result["partial"] = true;
    Json panels = Json::array();
    for (const Panel& panel : figure.panels) panels.push_back(panel_json(panel));
    result["panels"] = std::move(panels);
    return result;
}

}  // namespace cellblock::charts
