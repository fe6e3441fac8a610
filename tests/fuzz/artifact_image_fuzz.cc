// Any bytes as a picture: no crash, and a size that is plausible or none.
#include <cstdint>
#include <cstdlib>

#include "artifacts/image_info.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cellblock;
    const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
    const auto info = artifacts::sniff_image(bytes);
    if (info && (info->width == 0) != (info->height == 0)) std::abort();
    const auto svg = artifacts::sniff_svg(as_text(bytes));
    if (svg && (!(svg->width > 0) || !(svg->height > 0))) std::abort();
    return 0;
}
