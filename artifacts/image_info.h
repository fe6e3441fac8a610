// What a picture's first bytes say: format and size. Nothing is decoded.
//
// The bytes come from a guest: every read is bounds-checked, the search is bounded
// (limits::image_sniff_max_bytes), and the numbers are only shown, never used to allocate. Fuzzed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace cellblock::artifacts {

enum class ImageFormat { png, jpeg, gif, webp };

struct ImageInfo {
    ImageFormat format = ImageFormat::png;
    std::uint32_t width = 0;  // pixels; both 0 when the size was not found
    std::uint32_t height = 0;
};

std::string_view mime_of(ImageFormat format);

// By content, whatever anybody claims; nullopt when it is none of the formats.
std::optional<ImageInfo> sniff_image(ByteView bytes);

struct SvgSize {
    double width = 0;  // user units (pixels)
    double height = 0;
};

// From width/height of the root element, else from its viewBox; nullopt when neither is plain.
// Reads the first svg_sniff_max_bytes only, as text: this is no XML parser.
std::optional<SvgSize> sniff_svg(std::string_view text);

}  // namespace cellblock::artifacts
