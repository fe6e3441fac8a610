// A panel's axes, references and notes (see plotly_panel.h); traces in plotly_marks.cc.
#include "charts/plotly_panel.h"

#include <algorithm>
#include <cmath>

#include "charts/layer_look.h"
#include "charts/statistics.h"
#include "charts/text.h"

namespace cellblock::charts {

PlotlyPanel::PlotlyPanel(const Panel& panel, std::size_t number, const std::array<double, 4>& place)
    : panel_(panel), number_(number), place_(place) {}

void PlotlyPanel::add(Json& data, Json& layout) {
    for (const Layer& item : panel_.layers) layer(item);
    for (Json& item : traces_) data.push_back(std::move(item));
    if (panel_.projection == Projection::polar) {
        const std::string name = "polar" + (number_ == 1 ? "" : std::to_string(number_));
        layout[name] = {
            {"domain", domain()},
            {"angularaxis",
             {{"rotation", panel_.theta_zero_deg},
              {"direction", panel_.theta_direction < 0 ? "clockwise" : "counterclockwise"}}}};
        return;
    }
    if (panel_.projection == Projection::spatial) {
        const auto title = [](const Axis& axis) {
            return Json{{"title", {{"text", plotly_text(axis.label.value_or(""))}}}};
        };
        const std::string name = "scene" + (number_ == 1 ? "" : std::to_string(number_));
        layout[name] = {{"domain", domain()},
                        {"xaxis", title(panel_.x)},
                        {"yaxis", title(panel_.y)},
                        {"zaxis", title(panel_.z.value_or(Axis{}))}};
        return;
    }
    if (!flat_) return;
    add_axes(layout);
    refs(layout);
    notes(layout);
}

Json PlotlyPanel::domain() const {
    return {{"x", {place_[0], place_[0] + place_[2]}}, {"y", {place_[1], place_[1] + place_[3]}}};
}

// "x", "y2": as traces refer to them. Twins of a panel have numbers of their own.
std::string PlotlyPanel::axis_name(char letter, Side side) const {
    const bool second = (letter == 'x' && side == Side::x2 && panel_.x2) ||
                        (letter == 'y' && side == Side::y2 && panel_.y2);
    const std::size_t number = second ? number_ + 100 : number_;
    return std::string(1, letter) + (number == 1 ? "" : std::to_string(number));
}

Json PlotlyPanel::axis_json(const Axis& axis) const {
    Json result{{"title", {{"text", plotly_text(axis.label.value_or(""))}}}};
    const bool named = !axis.categories.empty();
    switch (axis.scale) {
        case Scale::datetime:
            result["type"] = "date";
            break;
        case Scale::log:
            result["type"] = "log";
            break;
        default:
            result["type"] = "linear";
    }
    if (named) {
        Json names = Json::array();
        for (const std::string& name : axis.categories) names.push_back(plotly_text(name));
        result["tickmode"] = "array";
        result["tickvals"] = column_json(axis.positions);
        result["ticktext"] = std::move(names);
    }
    if (!axis.lim) {
        if (axis.inverted) result["autorange"] = "reversed";
        return result;
    }
    double low = std::min((*axis.lim)[0], (*axis.lim)[1]);
    double high = std::max((*axis.lim)[0], (*axis.lim)[1]);
    if (axis.scale == Scale::log) {
        if (!(low > 0)) return result;
        low = std::log10(low);
        high = std::log10(high);
    }
    Json ends = axis.scale == Scale::datetime ? Json::array({value(axis, low), value(axis, high)})
                                              : Json::array({low, high});
    if (axis.inverted) std::swap(ends[0], ends[1]);
    result["range"] = std::move(ends);
    return result;
}

void PlotlyPanel::add_axes(Json& layout) {
    const auto key = [&](char letter, Side side) {
        const std::string name = axis_name(letter, side);
        return std::string(1, letter) + "axis" + name.substr(1);
    };
    Json x = axis_json(panel_.x), y = axis_json(panel_.y);
    x["domain"] = domain()["x"];
    y["domain"] = domain()["y"];
    x["anchor"] = axis_name('y', Side::y);
    y["anchor"] = axis_name('x', Side::y);
    layout[key('x', Side::y)] = std::move(x);
    layout[key('y', Side::y)] = std::move(y);
    if (panel_.y2) {
        Json second = axis_json(*panel_.y2);
        second["overlaying"] = axis_name('y', Side::y);
        second["side"] = "right";
        second["anchor"] = axis_name('x', Side::y);
        layout[key('y', Side::y2)] = std::move(second);
    }
    if (panel_.x2) {
        Json second = axis_json(*panel_.x2);
        second["overlaying"] = axis_name('x', Side::y);
        second["side"] = "top";
        second["anchor"] = axis_name('y', Side::y);
        layout[key('x', Side::x2)] = std::move(second);
    }
}

void PlotlyPanel::refs(Json& layout) {
    for (const Ref& ref : panel_.refs) {
        const std::string x = axis_name('x', ref.side), y = axis_name('y', ref.side);
        Layer owner;
        owner.side = ref.side;
        const Axis& along = x_axis(panel_, owner);
        const Axis& up = y_axis(panel_, owner);
        const std::string color = ref.color.empty() ? "#888888" : solid(ref.color);
        Json shape{{"type", "line"},
                   {"xref", x},
                   {"yref", y},
                   {"line", {{"color", color}, {"dash", "dash"}}}};
        const auto across = [&](const char* other, const char* end) {
            shape[std::string(other) + "ref"] =
                axis_name(other[0], ref.side) + std::string(" domain");
            shape[std::string(other) + "0"] = 0;
            shape[end] = 1;
        };
        const auto band = [&] {
            shape["type"] = "rect";
            shape["line"] = {{"width", 0}};
            shape["fillcolor"] = color;
            shape["opacity"] = 0.2;
        };
        switch (ref.kind) {
            case Ref::Kind::hline:
                across("x", "x1");
                shape["y0"] = shape["y1"] = value(up, ref.value);
                break;
            case Ref::Kind::vline:
                across("y", "y1");
                shape["x0"] = shape["x1"] = value(along, ref.value);
                break;
            case Ref::Kind::hspan:
                across("x", "x1");
                band();
                shape["y0"] = value(up, ref.lo);
                shape["y1"] = value(up, ref.hi);
                break;
            case Ref::Kind::vspan:
                across("y", "y1");
                band();
                shape["x0"] = value(along, ref.lo);
                shape["x1"] = value(along, ref.hi);
                break;
            case Ref::Kind::line:
                shape["x0"] = value(along, ref.p1[0]);
                shape["y0"] = value(up, ref.p1[1]);
                shape["x1"] = value(along, ref.p2[0]);
                shape["y1"] = value(up, ref.p2[1]);
                break;
        }
        layout["shapes"].push_back(std::move(shape));
    }
}

void PlotlyPanel::notes(Json& layout) {
    for (const Note& note : panel_.notes) {
        if (!note.at) continue;
        // An annotation's place on a logarithmic axis is the exponent.
        const auto place = [&](const Axis& axis, double at) -> Json {
            if (axis.scale != Scale::log) return value(axis, at);
            return at > 0 ? Json(std::log10(at)) : Json();
        };
        Json x = place(panel_.x, (*note.at)[0]), y = place(panel_.y, (*note.at)[1]);
        if (x.is_null() || y.is_null()) continue;
        layout["annotations"].push_back({{"text", plotly_text(note.text)},
                                         {"xref", axis_name('x', Side::y)},
                                         {"yref", axis_name('y', Side::y)},
                                         {"x", std::move(x)},
                                         {"y", std::move(y)},
                                         {"showarrow", false},
                                         {"xanchor", "left"},
                                         {"yanchor", "bottom"}});
    }
}

Json PlotlyPanel::value(const Axis& axis, double value) const {
    if (!std::isfinite(value)) return nullptr;
    if (axis.scale == Scale::datetime) {
        // The clock that the axis shows, without its zone: Plotly shows times as they are.
        const double shift = axis.tz_offset_min.value_or(0) * 60'000.0;
        const std::string text = iso_time(value + shift, TimeStyle::plain);
        return text.empty() ? Json() : Json(text);
    }
    return value;
}

Json PlotlyPanel::column(const Axis& axis, const Column& values) const {
    Json result = Json::array();
    for (const double item : values) result.push_back(value(axis, item));
    return result;
}

std::string PlotlyPanel::color_of(const Layer& layer) const {
    return charts::color_of(panel_, layer);
}

Json PlotlyPanel::color_axis(const Column& values) const {
    const auto found = extremes(values);
    const ColorRamp ramp(panel_.color, found ? values[found->lowest] : 0,
                         found ? values[found->highest] : 1);
    Json scale = Json::array();
    const auto& stops = ramp.stops();
    for (std::size_t i = 0; i < stops.size(); ++i) {
        scale.push_back(Json::array(
            {static_cast<double>(i) / static_cast<double>(stops.size() - 1), stops[i]}));
    }
    Json bar = Json::object();
    if (panel_.color && panel_.color->label) {
        bar["title"] = {{"text", plotly_text(*panel_.color->label)}};
    }
    return {{"colorscale", std::move(scale)},
            {"low", ramp.low()},
            {"high", ramp.high()},
            {"colorbar", std::move(bar)}};
}

Json PlotlyPanel::marker_by_value(const Column& values) const {
    Json axis = color_axis(values);
    return {{"color", column_json(values)},
            {"colorscale", axis["colorscale"]},
            {"cmin", axis["low"]},
            {"cmax", axis["high"]},
            {"showscale", true},
            {"colorbar", axis["colorbar"]}};
}

Json PlotlyPanel::trace(const Layer& layer, const char* type) const {
    return {{"type", type},
            {"name", plotly_text(layer.label.value_or(""))},
            {"showlegend", layer.label.has_value()},
            {"xaxis", axis_name('x', layer.side)},
            {"yaxis", axis_name('y', layer.side)}};
}

}  // namespace cellblock::charts
