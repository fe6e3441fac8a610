// A cell's pictures as content parts of a chat message, in the two shapes that chat APIs take.
//
//   openai     {"type": "image_url", "image_url": {"url": "data:image/png;base64,..."}}
//   anthropic  {"type": "image", "source": {"type": "base64", "media_type": "image/png",
//               "data": "..."}}
//
// Only what artifacts::capture recognised as a picture of that format, and within the limits below,
// which are those of the APIs. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/capture.h"
#include "base/json.h"
#include "base/limits.h"

namespace cellblock::gateway {

enum class ImageShape { openai, anthropic };

std::optional<ImageShape> image_shape_from(std::string_view name);

// APIs refuse messages with too many pictures, and pictures past 5 MB of base64.
inline constexpr std::size_t llm_images_max = 16;
inline constexpr std::size_t llm_image_max_bytes = 5 * 1000 * 1000;

class ImageParts {
  public:
    explicit ImageParts(ImageShape shape) : shape_(shape) {}

    // The pictures of one display, after those of the displays before it.
    void add(const artifacts::Captured& display);
    const std::vector<Json>& parts() const { return parts_; }
    // A sentence on what was not attached; empty when all were.
    std::string left_out() const;

  private:
    void add_picture(std::string_view mime, std::string_view base64);

    const ImageShape shape_;
    std::vector<Json> parts_;
    std::size_t left_out_ = 0;
};

// {"content": [text part, image parts...]}: a document and its pictures as one message.
Json message_of(std::string document, const ImageParts& images);

}  // namespace cellblock::gateway
