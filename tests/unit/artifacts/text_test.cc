#include "artifacts/text.h"

#include <doctest/doctest.h>

using namespace cellblock::artifacts;

TEST_CASE("one_line takes control and direction characters out") {
    CHECK(one_line("a\nb\r\n\tc", 100) == "a b c");
    CHECK(one_line("x\u202Ey\u200Bz", 100) == "xyz");
    CHECK(one_line("\x1b[31mred", 100) == " [31mred");
    CHECK(one_line("bad\xff", 100) == "bad\uFFFD");
    CHECK(one_line("abcdefghij", 6) == "abc…");
    CHECK(one_line("éééé", 6) == "é…");
    CHECK(one_line("abcdef", 6) == "abcdef");
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

TEST_CASE("several progress bars, each on a line of its own, come to their last states") {
    // As tqdm writes two nested bars: down to the inner one, up again to the outer.
    std::string text = "outer:   0%\n";
    for (const char* inner : {"inner:  50%", "inner: 100%"}) {
        text += std::string("\r") + inner + "\x1b[A\r";
        text += "outer:  50%\n";
    }
    text += "\x1b[A\router: 100%\n\n";
    CHECK(settled_text(text) == "outer: 100%\ninner: 100%\n");
}

TEST_CASE("a cursor that leaves the text makes no lines of its own") {
    CHECK(settled_text("a\x1b[999999A\rb") == "b");
    CHECK(settled_text("a\x1b[999Bb\nc") == "ab\nc");
    CHECK(settled_text("a\x1b[Zb\x1b[2Kc") == "abc");
}
