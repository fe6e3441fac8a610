#include "artifacts/image_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/limits.h"

namespace cellblock::artifacts {
namespace {

// A reader that cannot leave its bytes: past the end it gives zeros and remembers.
class Cursor {
  public:
    explicit Cursor(ByteView bytes) : bytes_(bytes) {}

    bool ok() const { return ok_; }
    std::size_t left() const { return bytes_.size() - at_; }
    void skip(std::size_t count) {
        if (count > left()) {
            ok_ = false;
            count = left();
        }
        at_ += count;
    }
    std::uint32_t byte() {
        if (left() == 0) {
            ok_ = false;
            return 0;
        }
        return std::to_integer<std::uint32_t>(bytes_[at_++]);
    }
    std::uint32_t big(int count) {
        std::uint32_t value = 0;
        for (int i = 0; i < count; ++i) value = value << 8 | byte();
        return value;
    }
    std::uint32_t little(int count) {
        std::uint32_t value = 0;
        for (int i = 0; i < count; ++i) value |= byte() << (8 * i);
        return value;
    }

  private:
    ByteView bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

bool starts_with(ByteView bytes, std::string_view magic, std::size_t at = 0) {
    return bytes.size() >= at + magic.size() && as_text(bytes.subspan(at, magic.size())) == magic;
}

ImageInfo sized(ImageFormat format, const Cursor& cursor, std::uint32_t width,
                std::uint32_t height) {
    ImageInfo info;
    info.format = format;
    if (cursor.ok() && width > 0 && height > 0) {
        info.width = width;
        info.height = height;
    }
    return info;
}

ImageInfo sniff_png(ByteView bytes) {
    Cursor cursor(bytes);
    cursor.skip(12);  // signature, length of IHDR
    const bool header = cursor.big(4) == 0x49484452;
    const std::uint32_t width = cursor.big(4);
    const std::uint32_t height = cursor.big(4);
    return header ? sized(ImageFormat::png, cursor, width, height)
                  : sized(ImageFormat::png, cursor, 0, 0);
}

// SOF0..SOF15 without DHT (C4), JPG (C8) and DAC (CC): those carry the frame's size.
bool is_frame_header(std::uint32_t marker) {
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

ImageInfo sniff_jpeg(ByteView bytes) {
    Cursor cursor(bytes.first(std::min(bytes.size(), limits::image_sniff_max_bytes)));
    cursor.skip(2);
    while (cursor.ok() && cursor.left() > 0) {
        if (cursor.byte() != 0xFF) break;
        std::uint32_t marker = cursor.byte();
        while (cursor.ok() && marker == 0xFF) marker = cursor.byte();        // fill bytes
        if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;  // no payload
        if (marker == 0xD9 || marker == 0xDA) break;  // end, or the scan: no header came
        const std::uint32_t length = cursor.big(2);
        if (length < 2) break;
        if (is_frame_header(marker)) {
            cursor.skip(1);
            const std::uint32_t height = cursor.big(2);
            const std::uint32_t width = cursor.big(2);
            return sized(ImageFormat::jpeg, cursor, width, height);
        }
        cursor.skip(length - 2);
    }
    return sized(ImageFormat::jpeg, cursor, 0, 0);
}

ImageInfo sniff_gif(ByteView bytes) {
    Cursor cursor(bytes);
    cursor.skip(6);
    const std::uint32_t width = cursor.little(2);
    const std::uint32_t height = cursor.little(2);
    return sized(ImageFormat::gif, cursor, width, height);
}

ImageInfo sniff_webp(ByteView bytes) {
    Cursor cursor(bytes);
    cursor.skip(12);
    const std::uint32_t kind = cursor.big(4);
    cursor.skip(4);            // the chunk's length
    if (kind == 0x56503858) {  // VP8X
        cursor.skip(4);
        const std::uint32_t width = cursor.little(3) + 1;
        const std::uint32_t height = cursor.little(3) + 1;
        return sized(ImageFormat::webp, cursor, width, height);
    }
    if (kind == 0x5650384C && cursor.byte() == 0x2F) {  // VP8L
        const std::uint32_t bits = cursor.little(4);
        return sized(ImageFormat::webp, cursor, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1);
    }
    if (kind == 0x56503820) {  // "VP8 "
        cursor.skip(3);
        if (cursor.big(3) == 0x9D012A) {
            const std::uint32_t width = cursor.little(2) & 0x3FFF;
            const std::uint32_t height = cursor.little(2) & 0x3FFF;
            return sized(ImageFormat::webp, cursor, width, height);
        }
    }
    return sized(ImageFormat::webp, cursor, 0, 0);
}

// The value of name="..." within a tag, or "".
std::string_view attribute(std::string_view tag, std::string_view name) {
    for (std::size_t at = tag.find(name); at != std::string_view::npos;
         at = tag.find(name, at + 1)) {
        const char before = at == 0 ? '\0' : tag[at - 1];
        if (before != ' ' && before != '\t' && before != '\n' && before != '\r') continue;
        std::string_view rest = tag.substr(at + name.size());
        const std::size_t equals = rest.find_first_not_of(" \t\r\n");
        if (equals == std::string_view::npos || rest[equals] != '=') continue;
        rest.remove_prefix(equals + 1);
        const std::size_t quote = rest.find_first_not_of(" \t\r\n");
        if (quote == std::string_view::npos || (rest[quote] != '"' && rest[quote] != '\''))
            continue;
        const char mark = rest[quote];
        rest.remove_prefix(quote + 1);
        return rest.substr(0, rest.find(mark));
    }
    return {};
}

constexpr double pixels_per_point = 96.0 / 72.0;
constexpr double largest_sensible = 1e6;

// "640", "640px", "480.5pt"; nothing else (percent, em, cm) has a size of its own here.
std::optional<double> length_of(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    if (unit == "pt") value *= pixels_per_point;
    if (!unit.empty() && unit != "px" && unit != "pt") return std::nullopt;
    if (value <= 0 || value > largest_sensible) return std::nullopt;
    return value;
}

}  // namespace

std::string_view mime_of(ImageFormat format) {
    switch (format) {
        case ImageFormat::png:
            return "image/png";
        case ImageFormat::jpeg:
            return "image/jpeg";
        case ImageFormat::gif:
            return "image/gif";
        case ImageFormat::webp:
            return "image/webp";
    }
    return "application/octet-stream";
}

std::optional<ImageInfo> sniff_image(ByteView bytes) {
    if (starts_with(bytes, "\x89PNG\r\n\x1a\n")) return sniff_png(bytes);
    if (starts_with(bytes, "\xFF\xD8\xFF")) return sniff_jpeg(bytes);
    if (starts_with(bytes, "GIF87a") || starts_with(bytes, "GIF89a")) return sniff_gif(bytes);
    if (starts_with(bytes, "RIFF") && starts_with(bytes, "WEBP", 8)) return sniff_webp(bytes);
    return std::nullopt;
}

std::optional<SvgSize> sniff_svg(std::string_view text) {
    text = text.substr(0, limits::svg_sniff_max_bytes);
    const std::size_t begin = text.find("<svg");
    if (begin == std::string_view::npos) return std::nullopt;
    text.remove_prefix(begin + 4);
    const std::string_view tag = text.substr(0, text.find('>'));
    SvgSize size;
    const auto width = length_of(attribute(tag, "width"));
    const auto height = length_of(attribute(tag, "height"));
    if (width && height) {
        size.width = *width;
        size.height = *height;
        return size;
    }
    std::string_view box = attribute(tag, "viewBox");
    std::array<double, 4> numbers{};
    for (double& number : numbers) {
        const std::size_t start = box.find_first_not_of(" ,\t\r\n");
        if (start == std::string_view::npos) return std::nullopt;
        box.remove_prefix(start);
        const auto [end, error] = std::from_chars(box.data(), box.data() + box.size(), number);
        if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
        box.remove_prefix(static_cast<std::size_t>(end - box.data()));
    }
    if (numbers[2] <= 0 || numbers[3] <= 0) return std::nullopt;
    if (numbers[2] > largest_sensible || numbers[3] > largest_sensible) return std::nullopt;
    size.width = numbers[2];
    size.height = numbers[3];
    return size;
}

}  // namespace cellblock::artifacts
