// Figure -> words (see describe.h): the sentences around what describe_layer.cc says.
#include "charts/describe.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/limits.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

constexpr std::size_t layers_told = 6;
constexpr std::size_t panels_told = 6;

std::string kind_words(const Panel& panel, const Layer& layer) {
    switch (layer.kind) {
        case Kind::line:
            return panel.projection == Projection::polar ? "Polar line chart" : "Line chart";
        case Kind::step:
            return "Step chart";
        case Kind::ecdf:
            return "Cumulative distribution";
        case Kind::kde:
            return "Density curve";
        case Kind::area:
            return layer.data.stack() ? "Stacked area chart" : "Area chart";
        case Kind::band:
            return "Band";
        case Kind::scatter:
            return "Scatter plot";
        case Kind::bar:
            if (layer.data.stack()) return "Stacked bar chart";
            return layer.orient == Orient::horizontal ? "Horizontal bar chart" : "Bar chart";
        case Kind::hist:
            return "Histogram";
        case Kind::hist2d:
            return "Two-dimensional histogram";
        case Kind::heatmap:
            return "Heat map";
        case Kind::image:
            return "Picture";
        case Kind::pie:
            return "Pie chart";
        case Kind::box:
            return "Box plot";
        case Kind::boxen:
            return "Letter-value plot";
        case Kind::violin:
            return "Violin plot";
        case Kind::errorbar:
            return "Plot with error bars";
        case Kind::stem:
            return "Stem plot";
        case Kind::contour:
        case Kind::contourf:
            return "Contour plot";
        case Kind::hexbin:
            return "Hexagonal binning";
        case Kind::quiver:
            return "Vector field";
        case Kind::event:
            return "Event plot";
        case Kind::gantt:
            return "Gantt chart";
        case Kind::candlestick:
            return "Candlestick chart";
        case Kind::line3d:
        case Kind::scatter3d:
        case Kind::bar3d:
        case Kind::surface:
            return "Three-dimensional plot";
        case Kind::flow:
            return "Stream plot";
        case Kind::table:
            return "Table";
        case Kind::shape:
            return "Drawing";
        case Kind::unknown:
            return "Chart of a kind that is not known";
    }
    return "Chart";
}

std::string axis_words(const Axis& axis) {
    return axis.label ? quoted_name(*axis.label) : std::string();
}

std::string of_and_by(const Panel& panel, const Layer& layer) {
    const std::string value = axis_words(value_axis(panel, layer));
    const std::string position = axis_words(position_axis(panel, layer));
    std::string text;
    if (!value.empty()) text += " of " + value;
    if (!position.empty()) text += (value.empty() ? " over " : " by ") + position;
    return text;
}

std::string kinds_of(const Panel& panel) {
    if (panel.layers.empty()) return "Empty panel";
    std::string text = kind_words(panel, panel.layers.front());
    std::set<std::string> told{text};
    for (const Layer& layer : panel.layers) {
        const std::string more = kind_words(panel, layer);
        if (told.insert(more).second && told.size() <= 3) {
            text += " with " + std::string(1, static_cast<char>(std::tolower(more[0]))) +
                    more.substr(1);
        }
    }
    return text;
}

bool is_flat(const Layer& layer) {
    return layer.kind == Kind::pie || layer.kind == Kind::table;
}

std::string scale_words(const char* name, const Axis& axis) {
    switch (axis.scale) {
        case Scale::log:
        case Scale::functionlog:
            return std::string(" The ") + name + " axis is logarithmic.";
        case Scale::symlog:
            return std::string(" The ") + name + " axis is symmetric logarithmic.";
        case Scale::logit:
            return std::string(" The ") + name + " axis is logit-scaled.";
        case Scale::asinh:
            return std::string(" The ") + name + " axis is asinh-scaled.";
        default:
            return {};
    }
}

// What a reader of bare numbers would get wrong.
std::string caveats(const Panel& panel) {
    std::string text = scale_words("x", panel.x) + scale_words("y", panel.y);
    if (panel.y2)
        text += " Some series use a second y axis" +
                (panel.y2->label ? ", " + axis_words(*panel.y2) : std::string()) + ".";
    for (const Layer& layer : panel.layers) {
        const Axis& axis = value_axis(panel, layer);
        if (layer.kind == Kind::bar && axis.lim && axis.scale == Scale::linear &&
            (*axis.lim)[0] > 0 && (*axis.lim)[1] > (*axis.lim)[0]) {
            text += " The value axis starts at " + short_number((*axis.lim)[0]) + ", not at 0.";
            break;
        }
    }
    for (const Layer& layer : panel.layers) {
        if (layer.sampled && layer.n) {
            text += " Figures are from " + std::to_string(layer.sampled->kept) + " of " +
                    std::to_string(*layer.n) + " points.";
            break;
        }
    }
    return text;
}

std::string refs_words(const Panel& panel) {
    std::string text;
    std::size_t told = 0;
    for (const Ref& ref : panel.refs) {
        if (!ref.label || told >= 3) continue;
        ++told;
        text += " Reference " + quoted_name(*ref.label);
        const Axis& axis =
            ref.kind == Ref::Kind::vline || ref.kind == Ref::Kind::vspan ? panel.x : panel.y;
        if (ref.kind == Ref::Kind::hline || ref.kind == Ref::Kind::vline) {
            text += " at " + axis_value_text(axis, ref.value, 3);
        } else if (ref.kind != Ref::Kind::line) {
            text += " from " + axis_value_text(axis, ref.lo, 3) + " to " +
                    axis_value_text(axis, ref.hi, 3);
        }
        text += ".";
    }
    return text;
}

std::string panel_words(const Panel& panel, const std::optional<std::string>& title) {
    std::string text = kinds_of(panel);
    if (title) text += " " + quoted_name(*title);
    if (!panel.layers.empty() && !is_flat(panel.layers.front()))
        text += of_and_by(panel, panel.layers.front());
    if (panel.layers.size() > 1) text += ", " + std::to_string(panel.layers.size()) + " series";
    text += ".";
    std::size_t told = 0;
    for (const Layer& layer : panel.layers) {
        if (told++ >= layers_told) break;
        const std::string words = describe_layer(panel, layer);
        if (words.empty()) continue;
        text += " ";
        if (layer.label) {
            text += quoted_name(*layer.label) + ": " + words;
        } else {
            std::string sentence = words;
            if (sentence[0] >= 'a' && sentence[0] <= 'z') {
                sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
            }
            text += sentence;
        }
        text += ".";
    }
    if (panel.layers.size() > layers_told) {
        text += " " + std::to_string(panel.layers.size() - layers_told) + " more series.";
    }
    return text + refs_words(panel) + caveats(panel);
}

// At a code point's border.
std::string cut(std::string text, std::size_t limit) {
    if (text.size() <= limit) return text;
    std::size_t end = limit - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end) + "…";
}

}  // namespace

std::string quoted_name(std::string_view text) {
    std::string result = "\"";
    std::size_t letters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xC0U) != 0x80U && ++letters > 40) return result + "…\"";
        result += byte < 0x20 || text[i] == '"' ? ' ' : text[i];
    }
    return result + "\"";
}

std::string short_number(double value) {
    if (!std::isfinite(value)) return format_number(value);
    const double size = std::abs(value);
    if (value == std::round(value) && size < 1e7) {
        char buffer[32];
        std::snprintf(buffer, sizeof buffer, "%.0f", value == 0 ? 0.0 : value);
        return buffer;
    }
    if (size >= 1e7 || size < 1e-4) return format_number(value, 3);
    const int digits = std::max(0, 2 - static_cast<int>(std::floor(std::log10(size))));
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
    std::string text = buffer;
    if (text.find('.') != std::string::npos) {
        while (text.back() == '0') text.pop_back();
        if (text.back() == '.') text.pop_back();
    }
    return text == "-0" ? "0" : text;
}

std::string describe(const Figure& figure) {
    std::string text;
    if (figure.panels.empty()) {
        text = "A figure without data";
        if (figure.title) text += ", " + quoted_name(*figure.title);
        text += ".";
    } else if (figure.panels.size() == 1) {
        const Panel& panel = figure.panels.front();
        text = panel_words(panel, panel.title ? panel.title : figure.title);
    } else {
        text = "Figure";
        if (figure.title) text += " " + quoted_name(*figure.title);
        text += " with " + std::to_string(figure.panels.size()) + " panels (" +
                std::to_string(figure.rows) + " by " + std::to_string(figure.columns) + ").";
        for (std::size_t i = 0; i < figure.panels.size() && i < panels_told; ++i) {
            text += " Panel " + std::to_string(i + 1) + ": " +
                    panel_words(figure.panels[i], figure.panels[i].title);
        }
        if (figure.panels.size() > panels_told) {
            text += " " + std::to_string(figure.panels.size() - panels_told) + " more panels.";
        }
    }
    if (figure.partial) text += " The figure was only read in part.";
    return cut(std::move(text), limits::chart_description_max_bytes);
}

std::string alt_text(const Figure& figure) {
    if (figure.panels.size() != 1) {
        std::string text = figure.panels.empty() ? "Figure without data" : "Figure";
        if (figure.title) text += " " + quoted_name(*figure.title);
        if (!figure.panels.empty())
            text += " with " + std::to_string(figure.panels.size()) + " panels";
        return cut(text + ".", 160);
    }
    const Panel& panel = figure.panels.front();
    std::string text = kinds_of(panel);
    const auto& title = panel.title ? panel.title : figure.title;
    if (title) text += " " + quoted_name(*title);
    if (!panel.layers.empty() && !is_flat(panel.layers.front()))
        text += of_and_by(panel, panel.layers.front());
    if (panel.layers.size() > 1) text += ", " + std::to_string(panel.layers.size()) + " series";
    std::string fact =
        panel.layers.size() == 1 ? describe_layer(panel, panel.layers.front()) : std::string();
    if (!fact.empty() && text.size() + fact.size() + 3 <= 160) return text + ": " + fact + ".";
    return cut(text + ".", 160);
}

}  // namespace cellblock::charts
