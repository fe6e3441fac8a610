#include "gateway/executions/llm_images.h"

#include <algorithm>
#include <utility>

namespace cellblock::gateway {

using artifacts::ArtifactKind;
using artifacts::PendingArtifact;

namespace {

// Where a display has the base64 of a picture: clients get these fields inline, and a picture past
// their budget is not there.
const std::string* base64_of(const artifacts::Captured& display, const PendingArtifact& picture) {
    const Json& fields = display.result_fields;
    const bool common = picture.field == "png" || picture.field == "jpeg";
    const auto extra = fields.find("extra");
    if (!common && (extra == fields.end() || !extra->is_object())) return nullptr;
    const Json& home = common ? fields : *extra;
    const auto at = home.find(common ? picture.field : picture.mime);
    return at != home.end() && at->is_string() ? &at->get_ref<const std::string&>() : nullptr;
}

// Notebooks break base64 into lines; data URLs have none.
std::string without_spaces(std::string_view base64) {
    std::string plain(base64);
    std::erase_if(plain, [](char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; });
    return plain;
}

}  // namespace

std::optional<ImageShape> image_shape_from(std::string_view name) {
    if (name == "openai") return ImageShape::openai;
    if (name == "anthropic") return ImageShape::anthropic;
    return std::nullopt;
}

void ImageParts::add(const artifacts::Captured& display) {
    for (const PendingArtifact& artifact : display.artifacts) {
        // No chat API takes SVG.
        if (artifact.kind != ArtifactKind::image || artifact.mime == "image/svg+xml") continue;
        const std::string* base64 = base64_of(display, artifact);
        if (base64 == nullptr) {
            ++left_out_;
        } else {
            add_picture(artifact.mime, without_spaces(*base64));
        }
    }
}

void ImageParts::add_picture(std::string_view mime, std::string_view base64) {
    if (parts_.size() >= llm_images_max || base64.size() > llm_image_max_bytes) {
        ++left_out_;
        return;
    }
    const std::string type(mime);
    if (shape_ == ImageShape::openai) {
        std::string url = "data:" + type + ";base64,";
        url += base64;
        parts_.push_back({{"type", "image_url"}, {"image_url", {{"url", std::move(url)}}}});
    } else {
        parts_.push_back(
            {{"type", "image"},
             {"source", {{"type", "base64"}, {"media_type", type}, {"data", base64}}}});
    }
}

std::string ImageParts::left_out() const {
    if (left_out_ == 0) return "";
    return "[… " + std::to_string(left_out_) + " more pictures are not attached: see their URLs …]";
}

Json message_of(std::string document, const ImageParts& images) {
    if (!images.left_out().empty()) document += "\n" + images.left_out() + "\n";
    Json content = Json::array();
    content.push_back({{"type", "text"}, {"text", std::move(document)}});
    for (const Json& part : images.parts()) content.push_back(part);
    return Json{{"content", std::move(content)}};
}

}  // namespace cellblock::gateway
