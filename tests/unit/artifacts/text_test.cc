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
