#include "artifacts/chart_part.h"

#include "artifacts/text.h"
#include "base/limits.h"

namespace cellblock::artifacts {

Result<ChartPart> read_chart(const Json& model) {
    if (!model.is_object()) {
        return fail(ErrorCode::guest_protocol, "a chart from the guest is no object");
    }
    ChartPart part;
    const auto title = model.find("title");
    if (title != model.end() && title->is_string()) {
        part.title = one_line(title->get_ref<const std::string&>(), limits::table_text_max_bytes);
    }
    part.e2b["type"] = "unknown";
    part.e2b["title"] = part.title.empty() ? Json() : Json(part.title);
    part.e2b["elements"] = Json::array();
    part.model = model;
    return part;
}

}  // namespace cellblock::artifacts
