#include "gateway/executions/display_budget.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/unicode.h"

namespace cellblock::gateway {
namespace {

using artifacts::Captured;
using artifacts::PendingArtifact;

struct TextField {
    std::string_view field;
    std::string_view mime;
    std::string_view name;
};
// A part of these says something; of the others it says nothing.
constexpr std::array<TextField, 4> text_fields{
    {{"text", "text/plain", "result.txt"},
     {"markdown", "text/markdown", "result.md"},
     {"latex", "application/x-latex", "result.tex"},
     {"javascript", "application/javascript", "result.js"}}};
// Each inline field and what it costs is known for these; `extra` counts as one field.
constexpr std::array<std::string_view, 9> rich_fields{"png",  "jpeg", "pdf",   "svg",  "html",
                                                      "json", "data", "chart", "extra"};

std::size_t cost_of(const Json& value) {
    return value.is_string() ? value.get_ref<const std::string&>().size() : value.dump().size();
}

// The display's artifact of `field`; one of `whole` is added when it has none.
std::size_t artifact_of(Captured& display, std::string_view field, std::string_view mime,
                        std::string name, std::string_view whole) {
    auto& all = display.artifacts;
    const auto found = std::find_if(
        all.begin(), all.end(), [field](const PendingArtifact& one) { return one.field == field; });
    if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
    PendingArtifact artifact;
    artifact.kind = artifacts::ArtifactKind::text;
    artifact.mime = mime;
    artifact.name = std::move(name);
    artifact.field = field;
    artifact.bytes = to_bytes(whole);
    all.push_back(std::move(artifact));
    return all.size() - 1;
}

}  // namespace

std::vector<CutField> DisplayBudget::apply(Captured& display) {
    std::vector<CutField> cuts;
    for (const TextField& known : text_fields) {
        const auto at = display.result_fields.find(known.field);
        if (at == display.result_fields.end() || !at->is_string()) continue;
        std::string& text = at->get_ref<std::string&>();
        const std::size_t total = text.size();
        const std::size_t shown = cut_utf8(text, text_left_).size();
        text_left_ -= shown;
        if (shown == total) continue;
        CutField cut;
        cut.field = known.field;
        cut.inline_bytes = shown;
        cut.total_bytes = total;
        cut.artifact = artifact_of(display, known.field, known.mime, std::string(known.name), text);
        text.resize(shown);
        text.shrink_to_fit();
        cuts.push_back(std::move(cut));
    }
    for (const std::string_view field : rich_fields) {
        const auto at = display.result_fields.find(field);
        if (at == display.result_fields.end()) continue;
        const std::size_t total = cost_of(*at);
        if (total <= rich_left_) {
            rich_left_ -= total;
            continue;
        }
        CutField cut;
        cut.field = field;
        cut.total_bytes = total;
        const std::string whole = at->is_string() ? at->get<std::string>() : dump_ascii(*at);
        cut.artifact =
            artifact_of(display, field, "application/json", std::string(field) + ".json", whole);
        if (field == "extra") {
            *at = Json::object();  // clients expect it
        } else {
            display.result_fields.erase(field);
        }
        cuts.push_back(std::move(cut));
    }
    return cuts;
}

}  // namespace cellblock::gateway
