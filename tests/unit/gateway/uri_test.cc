#include "gateway/http/uri.h"

#include <doctest/doctest.h>

#include "gateway/http/range.h"

using namespace cellblock::gateway::http;
using Segments = std::vector<std::string>;

TEST_CASE("splits and decodes a path") {
    CHECK(parse_target("/")->segments == Segments{});
    CHECK(parse_target("*")->segments == Segments{});
    CHECK(parse_target("/a/b%20c")->segments == Segments{"a", "b c"});
    CHECK(parse_target("/a//b/")->segments == Segments{"a", "", "b", ""});
    CHECK(parse_target("/files/%2Fhome%2Fx")->segments == Segments{"files", "/home/x"});
    CHECK(parse_target("http://h:1/a?b=c")->segments == Segments{"a"});
    CHECK(parse_target("/a?token=x%2By+z&empty&b=1&b=2")->query.get("token") == "x+y z");
    CHECK(parse_target("/a?b=1&b=2")->query.all("b") == Segments{"1", "2"});
}

TEST_CASE("refuses paths that climb, and text that is none") {
    for (const char* bad : {"/..", "/a/../b", "/a/%2e%2e/b", "/a/.%2E", "/./a",
                            "/files/%2Fa%2F..%2Fb", "/a/%", "/a%4", "/a%zz", "/a%00b", "/%ff",
                            "/%c3", "/\xff", "/%ed%a0%80", "/%c0%af", "/%f5%80%80%80"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_target(bad).has_value());
    }
    CHECK(parse_target("/a..b/...")->segments == Segments{"a..b", "..."});
}

TEST_CASE("percent encoding comes back unchanged") {
    const std::string text = "a b/\xc3\xbc%+?&=\n";
    CHECK(percent_decode(percent_encode(text)) == text);
}

TEST_CASE("selects byte ranges") {
    const auto is = [](const char* field, RangeVerdict verdict, std::uint64_t first,
                       std::uint64_t size) {
        const ByteRange range = select_range(field, 100);
        CAPTURE(field);
        CHECK(range.verdict == verdict);
        CHECK(range.first == first);
        CHECK(range.size == size);
    };
    is("bytes=0-9", RangeVerdict::part, 0, 10);
    is("bytes=90-", RangeVerdict::part, 90, 10);
    is("bytes=90-1000", RangeVerdict::part, 90, 10);
    is("bytes=-10", RangeVerdict::part, 90, 10);
    is("bytes=-1000", RangeVerdict::part, 0, 100);
    is("bytes=100-", RangeVerdict::unsatisfiable, 0, 0);
    is("bytes=-0", RangeVerdict::unsatisfiable, 0, 0);
    is("bytes=5-4", RangeVerdict::whole, 0, 100);
    is("bytes=0-1,5-6", RangeVerdict::whole, 0, 100);
    is("lines=0-1", RangeVerdict::whole, 0, 100);
    is("bytes=a-b", RangeVerdict::whole, 0, 100);
    is("bytes=99999999999999999999-", RangeVerdict::whole, 0, 100);
    CHECK(select_range("bytes=0-", 0).verdict == RangeVerdict::unsatisfiable);
    CHECK(select_range(std::nullopt, 7).verdict == RangeVerdict::whole);
}

TEST_CASE("compares entity tags weakly") {
    CHECK(etag_matches("\"a\", W/\"b\"", "\"b\""));
    CHECK(etag_matches("*", "\"x\""));
    CHECK_FALSE(etag_matches("\"a\"", "\"b\""));
}
