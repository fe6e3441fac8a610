#include "artifacts/stored_display.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/base64.h"

namespace cellblock::artifacts {

namespace {

// Larger pictures are past what chat APIs take, whose limit is 5 MB of base64.
constexpr std::size_t picture_max_bytes = 3'750'000;

bool is_picture(const Artifact& artifact) {
    return artifact.info.kind == ArtifactKind::image && artifact.info.mime != "image/svg+xml";
}

bool is_text(const Artifact& artifact) {
    const std::string& mime = artifact.info.mime;
    if (artifact.info.kind == ArtifactKind::table || artifact.info.kind == ArtifactKind::chart) {
        return false;
    }
    return mime.starts_with("text/") || mime == "application/json" || mime == "image/svg+xml";
}

std::string text_at(const Json& metadata, const char* name) {
    const auto at = metadata.find(name);
    return at != metadata.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

std::size_t content_wanted_bytes(const Artifact& artifact, std::size_t text_max_bytes) {
    const auto size = static_cast<std::size_t>(artifact.size_bytes);
    if (is_picture(artifact)) return size <= picture_max_bytes ? size : 0;
    return is_text(artifact) ? std::min(size, text_max_bytes) : 0;
}

Captured captured_again(const Artifact& artifact, ByteView content) {
    Captured display;
    PendingArtifact part;
    part.kind = artifact.info.kind;
    part.mime = artifact.info.mime;
    part.name = artifact.info.name;
    part.preview = artifact.info.metadata.is_object() ? artifact.info.metadata : Json::object();
    if (part.kind == ArtifactKind::table) {
        // What was stored by another version may not be read any more: then its name is all.
        if (auto table = parse_table_summary(part.preview)) display.table = std::move(*table);
    }
    if (part.kind == ArtifactKind::chart) {
        display.chart_description = text_at(part.preview, "description");
    }
    if (is_picture(artifact) && !content.empty()) {
        const bool common = part.mime == "image/png" || part.mime == "image/jpeg";
        part.field = part.mime.substr(part.mime.find('/') + 1);
        Json& home = common ? display.result_fields : display.result_fields["extra"];
        home[common ? part.field : part.mime] = base64_encode(content);
    } else if (is_text(artifact)) {
        display.result_fields["text"] = std::string(as_text(content));
    }
    display.artifacts.push_back(std::move(part));
    return display;
}

}  // namespace cellblock::artifacts
