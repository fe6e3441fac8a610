#include "artifacts/chart_part.h"

#include <utility>

#include "charts/describe.h"
#include "charts/e2b.h"
#include "charts/model.h"

namespace cellblock::artifacts {
namespace {

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
    part.alt = charts::alt_text(figure);
    part.description = charts::describe(figure);
    return part;
}

}  // namespace cellblock::artifacts
