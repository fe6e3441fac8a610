// Any JSON as a kernel's display: the fields E2B's clients index are strings, `extra` is there, our
// own types do not leak, artifacts are well-formed, and the LLM view keeps its budget.
#include <cstdint>
#include <cstdlib>

#include "artifacts/capture.h"
#include "artifacts/changed_files.h"
#include "artifacts/llm_view.h"
#include "base/bytes.h"
#include "base/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cellblock;
    using namespace cellblock::artifacts;
    const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
    const auto json = parse_json(as_text(bytes), JsonLimits{limits::MiB, 64}, "a display");
    if (!json) return 0;
    const Json metadata =
        json->is_object() ? json->value("metadata", Json::object()) : Json::object();
    const Captured captured = capture(*json, metadata, 1);
    const Json& fields = captured.result_fields;
    const bool only_files = json->is_object() && json->size() == 1 && json->contains(files_mime);
    if (fields.is_null() != only_files) std::abort();
    if (!only_files && !(fields.contains("extra") && fields["extra"].is_object())) std::abort();
    for (const char* name : {"text", "html", "markdown", "svg", "png", "jpeg", "pdf", "latex"}) {
        if (fields.contains(name) && !fields[name].is_string()) std::abort();
    }
    const Json extra = only_files ? Json::object() : fields["extra"];
    for (const auto& [mime, value] : extra.items()) {
        if (mime.starts_with("application/vnd.cellblock.")) std::abort();
    }
    LlmInput input;
    LlmResult result;
    result.captured = &captured;
    result.is_main_result = true;
    input.results.push_back(result);
    for (const PendingArtifact& artifact : captured.artifacts) {
        if (safe_name(artifact.name, "") != artifact.name) std::abort();
        // Only what capture itself wrote is removed from the guest.
        const bool removed = !artifact.guest_path.empty() && artifact.guest_copy == GuestCopy::goes;
        if (removed && !is_guest_artifact_path(artifact.guest_path)) std::abort();
        if (dump_ascii(artifact.preview).size() > limits::artifact_metadata_max_bytes) {
            std::abort();
        }
    }
    if (llm_view(input, 1000).size() > 1000) std::abort();
    return 0;
}
