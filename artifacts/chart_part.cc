#include "artifacts/chart_part.h"

#include <utility>

#include "artifacts/text.h"
#include "base/limits.h"
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

Result<std::optional<ChartData>> read_chart_data(const Json& model) {
    const auto at = model.find("full_data");
    if (at == model.end() || at->is_null()) return std::nullopt;
    ChartData data;
    CB_TRY_ASSIGN(table, parse_table(*at));
    if (!table.data) {
        return fail(ErrorCode::guest_protocol, "a chart's full data from the guest has no file");
    }
    data.table = std::move(table);
    const auto names = at->find("layers");
    if (names == at->end() || !names->is_array()) return data;
    // The names go into the artifact's metadata, beside the table's summary.
    std::size_t room = limits::artifact_metadata_max_bytes / 8;
    for (const Json& name : *names) {
        if (!name.is_string()) continue;
        std::string line =
            one_line(name.get_ref<const std::string&>(), limits::chart_string_max_bytes);
        const std::size_t size = dump_ascii(Json(line)).size() + 1;
        if (size > room) break;
        room -= size;
        data.layers.push_back(std::move(line));
    }
    return data;
}

}  // namespace cellblock::artifacts
