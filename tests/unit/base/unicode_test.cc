#include "base/unicode.h"

#include <string>

#include <doctest/doctest.h>

using namespace cellblock;

TEST_CASE("code_point_at is strict") {
    const auto valid = [](std::string_view text) { return code_point_at(text, 0).valid; };
    CHECK(valid("a"));
    CHECK(code_point_at("€", 0).value == 0x20AC);
    CHECK(code_point_at("😀", 0).value == 0x1F600);
    CHECK_FALSE(valid("\xC0\x80"));          // overlong
    CHECK_FALSE(valid("\xED\xA0\x80"));      // surrogate
    CHECK_FALSE(valid("\xF4\x90\x80\x80"));  // past U+10FFFF
    CHECK_FALSE(valid("\xE2\x82"));          // cut
    CHECK_FALSE(valid("\xFF"));
}

TEST_CASE("cuts keep whole characters") {
    CHECK(cut_utf8("aé", 2) == "a");
    CHECK(cut_utf8("aé", 3) == "aé");
    CHECK(cut_utf8("😀", 3).empty());
    CHECK(cut_utf8_front("éa", 2) == "a");
    CHECK(cut_utf8_front("éa", 3) == "éa");
}

TEST_CASE("display_width counts terminal columns") {
    CHECK(display_width("abc") == 3);
    CHECK(display_width("売上") == 4);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("😀") == 2);
    CHECK(display_width("\xff") == 1);
}

TEST_CASE("is_valid_utf8 takes whole characters only, at any distance from a word's border") {
    CHECK(is_valid_utf8(""));
    CHECK(is_valid_utf8("plain ASCII, longer than a word"));
    for (std::size_t ahead = 0; ahead < 9; ++ahead) {
        const std::string text(ahead, 'x');
        CHECK(is_valid_utf8(text + "€😀"));
        CHECK_FALSE(is_valid_utf8(text + "\xE2\x82"));
        CHECK_FALSE(is_valid_utf8(text + "\xED\xA0\x80" + "tail of ASCII"));
    }
}
