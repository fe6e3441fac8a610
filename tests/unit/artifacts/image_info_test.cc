#include "artifacts/image_info.h"

#include <doctest/doctest.h>

#include <string>

#include "base/base64.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

std::string hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    }
    return bytes;
}

void check(const std::string& bytes, ImageFormat format, std::uint32_t width,
           std::uint32_t height) {
    const auto info = sniff_image(as_bytes(bytes));
    REQUIRE(info);
    CHECK(info->format == format);
    CHECK(info->width == width);
    CHECK(info->height == height);
}

const std::string png = hex("89504e470d0a1a0a0000000d4948445200000280000001e00806000000");
// SOI, APP0 (with a fill byte before it), DQT cut to nothing, SOF2 of 300 x 200.
const std::string jpeg =
    hex("ffd8ffffe000104a46494600010100000100010000ffdb0002ffc2001108"
        "00c8"
        "012c"
        "03012200");

}  // namespace

TEST_CASE("sizes of the four formats") {
    check(png, ImageFormat::png, 640, 480);
    check(jpeg, ImageFormat::jpeg, 300, 200);
    check(hex("474946383961"
              "0a00"
              "1400"),
          ImageFormat::gif, 10, 20);
    check("RIFF\x01\x01\x01\x01WEBPVP8X" + hex("0a00000000000000"
                                               "1f0300"
                                               "570200"),
          ImageFormat::webp, 800, 600);
    check("RIFF\x01\x01\x01\x01WEBPVP8L" + hex("0a000000"
                                               "2f"
                                               "3f00"
                                               "0700"),
          ImageFormat::webp, 64, 29);
    check("RIFF\x01\x01\x01\x01WEBPVP8 " + hex("0a000000"
                                               "000000"
                                               "9d012a"
                                               "4001"
                                               "f000"),
          ImageFormat::webp, 320, 240);
}

TEST_CASE("cut anywhere: the format stays known or nothing is, and no size is made up") {
    for (const std::string& whole : {png, jpeg}) {
        const auto full = sniff_image(as_bytes(whole));
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const auto info = sniff_image(as_bytes(whole).first(size));
            if (info && info->width != 0) {
                CHECK(info->width == full->width);
                CHECK(info->height == full->height);
            }
        }
    }
}

TEST_CASE("what is no picture") {
    CHECK_FALSE(sniff_image(as_bytes("")));
    CHECK_FALSE(sniff_image(as_bytes("<svg>")));
    CHECK_FALSE(sniff_image(as_bytes("RIFF....WAVE")));
    // A JPEG without a frame header, and one whose segment lengths lie.
    CHECK(sniff_image(as_bytes(hex("ffd8ffd9")))->width == 0);
    CHECK(sniff_image(as_bytes(hex("ffd8ffe00000")))->width == 0);
    CHECK(sniff_image(as_bytes(hex("ffd8ffe0ffff00")))->width == 0);
}

TEST_CASE("SVG sizes from attributes or viewBox") {
    const auto sized = [](std::string_view text) {
        const auto size = sniff_svg(text);
        return size ? std::to_string(static_cast<int>(size->width)) + "x" +
                          std::to_string(static_cast<int>(size->height))
                    : std::string("none");
    };
    CHECK(sized("<?xml version='1.0'?>\n<svg width=\"640\" height='480px'>") == "640x480");
    CHECK(sized("<svg height=\"360pt\" version=\"1.1\" viewBox=\"0 0 9 9\" width=\"720pt\">") ==
          "960x480");
    CHECK(sized("<svg width=\"100%\" height=\"100%\" viewBox=\"0 0 30 40.5\">") == "30x40");
    CHECK(sized("<svg stroke-width=\"3\" viewBox=\"0,0,30,40\">") == "30x40");
    CHECK(sized("<svg width=\"-1\" height=\"nan\">") == "none");
    CHECK(sized("<svg width=\"1e300\" height=\"1\">") == "none");
    CHECK(sized("<svg width=\"640") == "none");
    CHECK(sized("<html>") == "none");
    CHECK(sized("<svg viewBox=\"0 0 1\">") == "none");
}
