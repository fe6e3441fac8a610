#include "artifacts/text.h"

#include <doctest/doctest.h>

using namespace cellblock::artifacts;

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

TEST_CASE("one_line takes control and direction characters out") {
    CHECK(one_line("a\nb\r\n\tc", 100) == "a b c");
    CHECK(one_line("x\u202Ey\u200Bz", 100) == "xyz");
    CHECK(one_line("\x1b[31mred", 100) == " [31mred");
    CHECK(one_line("bad\xff", 100) == "bad\uFFFD");
    CHECK(one_line("abcdefghij", 6) == "abc…");
    CHECK(one_line("éééé", 6) == "é…");
    CHECK(one_line("abcdef", 6) == "abcdef");
}

TEST_CASE("display_width counts terminal columns") {
    CHECK(display_width("abc") == 3);
    CHECK(display_width("売上") == 4);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("😀") == 2);
    CHECK(display_width("\xff") == 1);
}

TEST_CASE("numbers for people") {
    CHECK(with_thousands(0) == "0");
    CHECK(with_thousands(999) == "999");
    CHECK(with_thousands(1000) == "1,000");
    CHECK(with_thousands(1234567) == "1,234,567");
    CHECK(readable_size(17) == "17 bytes");
    CHECK(readable_size(1536) == "1.5 KiB");
    CHECK(readable_size(1048576) == "1.0 MiB");
    CHECK(readable_size(1048575) == "1.0 MiB");
}
