// SVG text (see svg_canvas.h).
#include "charts/svg_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace cellblock::charts {

namespace {

constexpr std::string_view light_style =
    ".bg{fill:#fff}.t{fill:#24292f}.m{fill:#57606a}.ki{fill:#1b1f24}.ks{stroke:#1b1f24}"
    ".gs{stroke:#fff}.ax{stroke:#8c959f}.gr{stroke:#eaeef2}";
constexpr std::string_view dark_style =
    ".bg{fill:#0d1117}.t{fill:#e6edf3}.m{fill:#9198a1}.ki{fill:#e6edf3}.ks{stroke:#e6edf3}"
    ".gs{stroke:#0d1117}.ax{stroke:#6e7681}.gr{stroke:#21262d}";
constexpr double edge_px = 100'000;  // what lies further out is cut by the clip path anyway

// One decimal is a tenth of a pixel: enough, and it halves the size of a long line.
std::string number(double value) {
    if (!std::isfinite(value)) value = 0;
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.1f", std::clamp(value, -edge_px, edge_px));
    std::string text = buffer;
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text == "-0" ? "0" : text;
}

std::string attribute(std::string_view name, double value) {
    return " " + std::string(name) + "=\"" + number(value) + "\"";
}

std::string fraction_attribute(std::string_view name, double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.2g", std::clamp(value, 0.0, 1.0));
    return " " + std::string(name) + "=\"" + buffer + "\"";
}

std::string escaped(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        // U+FFFE and U+FFFF, which XML forbids.
        if (c == '\xEF' && text.substr(i, 2) == "\xEF\xBF" && i + 2 < text.size() &&
            static_cast<unsigned char>(text[i + 2]) >= 0xBE) {
            i += 2;
            continue;
        }
        switch (c) {
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '&':
                result += "&amp;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\n':
            case '\t':
                result += ' ';
                break;
            default:
                result += c;
        }
    }
    return result;
}

std::string path_of(const std::vector<Pixel>& points) {
    std::string path;
    for (const Pixel& point : points) {
        path += path.empty() ? 'M' : 'L';
        path += number(point.x) + ' ' + number(point.y);
    }
    return path;
}

std::string_view dash_pattern(Dash dash) {
    switch (dash) {
        case Dash::solid:
            return "";
        case Dash::dashed:
            return "6 4";
        case Dash::dotted:
            return "1.5 3";
        case Dash::dash_dot:
            return "6 3 1.5 3";
    }
    return "";
}

}  // namespace

std::optional<Theme> theme_from(std::string_view name) {
    if (name == "auto") return Theme::automatic;
    if (name == "light") return Theme::light;
    if (name == "dark") return Theme::dark;
    return std::nullopt;
}

SvgCanvas::SvgCanvas(double width_px, double height_px, Theme theme, std::string id_prefix)
    : width_px_(width_px), height_px_(height_px), theme_(theme), id_prefix_(std::move(id_prefix)) {}

std::string SvgCanvas::finish(std::string_view name, std::string_view description) const {
    std::string style(theme_ == Theme::dark ? dark_style : light_style);
    if (theme_ == Theme::automatic) {
        style += "@media (prefers-color-scheme:dark){" + std::string(dark_style) + "}";
    }
    const std::string size = number(width_px_) + " " + number(height_px_);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width_px_) +
           attribute("height", height_px_) + " viewBox=\"0 0 " + size +
           "\" role=\"img\" font-family=\"system-ui,-apple-system,'Segoe UI',Helvetica,Arial,"
           "sans-serif\"><title>" +
           escaped(name) + "</title><desc>" + escaped(description) + "</desc><style>" + style +
           "</style><defs>" + definitions_ +
           "</defs><rect class=\"bg\" width=\"100%\" "
           "height=\"100%\"/>" +
           body_ + "</svg>\n";
}

std::string SvgCanvas::paint(std::string_view attribute, const std::string& color) const {
    if (color == ink) return attribute == "fill" ? " class=\"ki\"" : " class=\"ks\"";
    return " " + std::string(attribute) + "=\"" + color + "\"";
}

void SvgCanvas::text(Pixel at, std::string_view words, const TextLook& look) {
    if (words.empty()) return;
    body_ += "<text" + attribute("x", at.x) + attribute("y", at.y) +
             attribute("font-size", look.size_px);
    if (look.anchor != Anchor::start) {
        body_ += look.anchor == Anchor::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
    }
    if (look.strong) body_ += " font-weight=\"600\"";
    if (look.turned_deg != 0) {
        body_ += " transform=\"rotate(" + number(look.turned_deg) + " " + number(at.x) + " " +
                 number(at.y) + ")\"";
    }
    if (!look.color.empty()) {
        body_ += paint("fill", look.color);
    } else {
        body_ += look.tone == Tone::text    ? " class=\"t\""
                 : look.tone == Tone::muted ? " class=\"m\""
                                            : " class=\"ki\"";
    }
    body_ += ">" + escaped(words) + "</text>";
}

void SvgCanvas::frame_line(Pixel from, Pixel to, std::string_view kind) {
    body_ += "<path d=\"" + path_of({from, to}) + "\" fill=\"none\" class=\"" +
             (kind == "axis" ? "ax" : "gr") + "\"/>";
}

void SvgCanvas::stroke(const std::vector<Pixel>& points, const Polyline& look) {
    if (points.empty()) return;
    std::string path = path_of(points);
    // A line of one point is a dot that round ends make visible.
    if (points.size() == 1) path += "h0";
    if (look.arrow && points.size() >= 2) {
        const Pixel& tip = points.back();
        const Pixel& from = points[points.size() - 2];
        const double angle = std::atan2(tip.y - from.y, tip.x - from.x);
        const double length = std::hypot(tip.y - from.y, tip.x - from.x);
        const double head = std::clamp(length * 0.4, 1.0, 6.0);
        for (const double side : {2.6, -2.6}) {
            path += "M" + number(tip.x) + " " + number(tip.y) + "L" +
                    number(tip.x + head * std::cos(angle + side)) + " " +
                    number(tip.y + head * std::sin(angle + side));
        }
    }
    body_ += "<path d=\"" + path + "\" fill=\"none\" stroke-linejoin=\"round\"" +
             paint("stroke", look.color) + attribute("stroke-width", look.width_px);
    if (points.size() == 1) body_ += " stroke-linecap=\"round\"";
    if (look.dash != Dash::solid) {
        body_ += " stroke-dasharray=\"" + std::string(dash_pattern(look.dash)) + "\"";
    }
    if (look.opacity < 1) body_ += fraction_attribute("stroke-opacity", look.opacity);
    body_ += "/>";
}

void SvgCanvas::fill(const std::vector<Pixel>& points, const Region& look) {
    if (points.empty()) return;
    body_ += "<path d=\"" + path_of(points) + "Z\"";
    if (look.outline == Outline::ground && look.color != ink) body_ += " class=\"gs\"";
    body_ += paint("fill", look.color);
    if (look.opacity < 1) body_ += fraction_attribute("fill-opacity", look.opacity);
    body_ += "/>";
}

void SvgCanvas::rects(const std::vector<Rect>& items, const std::string& color, double opacity,
                      Outline outline) {
    if (items.empty()) return;
    body_ += "<path d=\"";
    for (const Rect& item : items) {
        body_ += "M" + number(item.x) + " " + number(item.y) + "h" + number(item.width) + "v" +
                 number(item.height) + "h" + number(-item.width) + "z";
    }
    body_ += "\"";
    // One class attribute an element: the outline's, or the fill's when that is the text's colour.
    if (color == ink) {
        body_ += paint("fill", color);
    } else {
        body_ += paint("fill", color);
        if (outline == Outline::ground) body_ += " class=\"gs\" stroke-width=\"0.5\"";
        if (outline == Outline::ink) body_ += " class=\"ks\" stroke-width=\"1\"";
    }
    if (opacity < 1) body_ += fraction_attribute("fill-opacity", opacity);
    body_ += "/>";
}

void SvgCanvas::dots(const std::vector<Pixel>& places, double diameter_px, const std::string& color,
                     const Dots& look) {
    if (places.empty()) return;
    if (look.hollow) {
        for (const Pixel& place : places) {
            body_ += "<circle fill=\"none\"" + attribute("cx", place.x) + attribute("cy", place.y) +
                     attribute("r", diameter_px / 2) + paint("stroke", color) + "/>";
        }
        return;
    }
    body_ += "<path d=\"";
    for (const Pixel& place : places) body_ += "M" + number(place.x) + " " + number(place.y) + "h0";
    body_ += "\" fill=\"none\" stroke-linecap=\"round\"" + paint("stroke", color) +
             attribute("stroke-width", diameter_px);
    if (look.opacity < 1) body_ += fraction_attribute("stroke-opacity", look.opacity);
    body_ += "/>";
}

void SvgCanvas::ground(const Rect& place) {
    body_ += "<rect class=\"bg\"" + attribute("x", place.x) + attribute("y", place.y) +
             attribute("width", place.width) + attribute("height", place.height) + "/>";
}

void SvgCanvas::swatch(const Rect& place, const std::string& color) {
    body_ += "<rect" + attribute("x", place.x) + attribute("y", place.y) +
             attribute("width", place.width) + attribute("height", place.height) + " rx=\"2\"" +
             paint("fill", color) + "/>";
}

void SvgCanvas::gradient(const Rect& place, const std::vector<std::string>& stops_from_below) {
    const std::string id = id_prefix_ + std::to_string(++ids_);
    definitions_ += "<linearGradient id=\"" + id + "\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">";
    const auto last = static_cast<double>(std::max<std::size_t>(stops_from_below.size(), 2) - 1);
    for (std::size_t i = 0; i < stops_from_below.size(); ++i) {
        definitions_ += "<stop" + fraction_attribute("offset", static_cast<double>(i) / last) +
                        " stop-color=\"" + stops_from_below[i] + "\"/>";
    }
    definitions_ += "</linearGradient>";
    body_ += "<rect" + attribute("x", place.x) + attribute("y", place.y) +
             attribute("width", place.width) + attribute("height", place.height) + " fill=\"url(#" +
             id + ")\"/>";
}

void SvgCanvas::begin_clip(const Rect& area) {
    const std::string id = id_prefix_ + std::to_string(++ids_);
    definitions_ += "<clipPath id=\"" + id + "\"><rect" + attribute("x", area.x) +
                    attribute("y", area.y) + attribute("width", area.width) +
                    attribute("height", area.height) + "/></clipPath>";
    body_ += "<g clip-path=\"url(#" + id + ")\">";
}

}  // namespace cellblock::charts
