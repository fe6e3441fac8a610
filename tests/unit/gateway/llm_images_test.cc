#include "gateway/executions/llm_images.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::gateway;

namespace {

// Eight bytes of a PNG's signature and the head of a picture of 1 by 1 pixel.
const char* const tiny_png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E\n"
    "rkJggg==\n";

artifacts::Captured shown(const Json& bundle) {
    return artifacts::capture(bundle, Json::object(), 1);
}

}  // namespace

TEST_CASE("a picture becomes a part of either chat API's shape, its base64 without line ends") {
    const artifacts::Captured display = shown({{"image/png", tiny_png}});
    ImageParts openai(ImageShape::openai);
    openai.add(display);
    const std::vector<Json> first = openai.parts();
    REQUIRE(first.size() == 1);
    CHECK(first[0]["type"] == "image_url");
    const auto url = first[0]["image_url"]["url"].get<std::string>();
    CHECK(url.starts_with("data:image/png;base64,iVBORw0KGgo"));
    CHECK(url.ends_with("5ErkJggg=="));

    ImageParts anthropic(ImageShape::anthropic);
    anthropic.add(display);
    const std::vector<Json> second = anthropic.parts();
    REQUIRE(second.size() == 1);
    CHECK(second[0]["type"] == "image");
    CHECK(second[0]["source"]["type"] == "base64");
    CHECK(second[0]["source"]["media_type"] == "image/png");
    CHECK("data:image/png;base64," + second[0]["source"]["data"].get<std::string>() == url);
}

TEST_CASE("what is no picture, or no picture that a chat API takes, is no part") {
    ImageParts parts(ImageShape::openai);
    parts.add(shown({{"image/png", "bm8gcGljdHVyZQ=="}}));
    parts.add(shown({{"image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"}}));
    parts.add(shown({{"text/plain", "x"}}));
    CHECK(parts.left_out().empty());
    CHECK(parts.parts().empty());
}

TEST_CASE("pictures of other formats come from where a display has them") {
    ImageParts parts(ImageShape::anthropic);
    parts.add(shown({{"image/gif", "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"}}));
    const std::vector<Json> all = parts.parts();
    REQUIRE(all.size() == 1);
    CHECK(all[0]["source"]["media_type"] == "image/gif");
}

TEST_CASE("pictures past the number or the size that APIs take are counted, not sent") {
    ImageParts parts(ImageShape::openai);
    for (std::size_t i = 0; i < llm_images_max + 2; ++i)
        parts.add(shown({{"image/png", tiny_png}}));
    CHECK(parts.left_out().find("2 more pictures") != std::string::npos);
    CHECK(parts.parts().size() == llm_images_max);

    ImageParts large(ImageShape::openai);
    artifacts::Captured display = shown({{"image/png", tiny_png}});
    display.result_fields["png"] = std::string(llm_image_max_bytes + 1, 'A');
    large.add(display);
    CHECK(large.parts().empty());
    CHECK(large.left_out().find("1 more") != std::string::npos);
}

TEST_CASE("the names of the shapes") {
    CHECK(image_shape_from("openai") == ImageShape::openai);
    CHECK(image_shape_from("anthropic") == ImageShape::anthropic);
    CHECK_FALSE(image_shape_from("png").has_value());
}

TEST_CASE("a message is the document and its pictures, and says what is not attached") {
    ImageParts parts(ImageShape::openai);
    parts.add(shown({{"image/png", tiny_png}}));
    const Json message = message_of("words", parts);
    REQUIRE(message["content"].size() == 2);
    CHECK(message["content"][0] == Json({{"type", "text"}, {"text", "words"}}));
    CHECK(message["content"][1]["type"] == "image_url");
    for (std::size_t i = 0; i < llm_images_max; ++i) parts.add(shown({{"image/png", tiny_png}}));
    const auto text = message_of("words", parts)["content"][0]["text"].get<std::string>();
    CHECK(text.find("1 more pictures") != std::string::npos);
}
