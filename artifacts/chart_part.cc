#include "artifacts/chart_part.h"

#include <utility>

#include "artifacts/text.h"
#include "base/limits.h"
#include "charts/e2b.h"
#include "charts/model.h"

namespace cellblock::artifacts {
namespace {

constexpr std::size_t label_max_bytes = 80;
constexpr std::size_t described_layers = 6;
constexpr std::size_t described_panels = 4;

std::string in_quotes(std::string_view text) {
    return "\"" + one_line(text, label_max_bytes) + "\"";
}

std::string axis_text(std::string_view name, const charts::Axis& axis) {
    std::string text(name);
    if (axis.label && !axis.label->empty()) text += " " + in_quotes(*axis.label);
    if (axis.scale != charts::Scale::linear) {
        text += " (" + std::string(charts::to_string(axis.scale)) + ")";
    }
    return text;
}

// "line "2024" (31 points)"
std::string layer_text(const charts::Layer& layer) {
    std::string text = one_line(layer.kind_name, label_max_bytes);
    if (layer.label && !layer.label->empty()) text += " " + in_quotes(*layer.label);
    if (layer.n) text += " (" + with_thousands(*layer.n) + (*layer.n == 1 ? " point)" : " points)");
    return text;
}

std::string panel_text(const charts::Panel& panel) {
    std::string text;
    if (panel.title && !panel.title->empty()) text += in_quotes(*panel.title) + ": ";
    for (std::size_t i = 0; i < panel.layers.size() && i < described_layers; ++i) {
        text += (i == 0 ? "" : ", ") + layer_text(panel.layers[i]);
    }
    if (panel.layers.empty()) text += "nothing drawn";
    if (panel.layers.size() > described_layers) {
        text += " and " + std::to_string(panel.layers.size() - described_layers) + " more";
    }
    return text + "; " + axis_text("x", panel.x) + ", " + axis_text("y", panel.y);
}

std::string description_of(const charts::Figure& figure) {
    std::string text = "Chart";
    if (figure.title && !figure.title->empty()) text += " " + in_quotes(*figure.title);
    if (figure.panels.size() > 1) {
        text += " of " + std::to_string(figure.panels.size()) + " panels";
    }
    for (std::size_t i = 0; i < figure.panels.size() && i < described_panels; ++i) {
        text += (i == 0 ? ": " : "; next panel: ") + panel_text(figure.panels[i]);
    }
    return text + ".";
}

std::string title_of(const charts::Figure& figure) {
    if (figure.title && !figure.title->empty()) return *figure.title;
    if (figure.panels.size() == 1 && figure.panels[0].title) return *figure.panels[0].title;
    return {};
}

}  // namespace

Result<ChartPart> read_chart(const Json& model) {
    CB_TRY_ASSIGN(figure, charts::parse_figure(model));
    ChartPart part;
    part.e2b = charts::to_e2b(figure);
    part.model = charts::to_json(figure);
    part.title = title_of(figure);
    part.description = description_of(figure);
    return part;
}

}  // namespace cellblock::artifacts
