#include "base/json.h"

#include <doctest/doctest.h>

using namespace cellblock;

namespace {
constexpr JsonLimits kLimits{1000, 8};
}

TEST_CASE("parse_json refuses a document nested too deep before it builds it") {
    const std::string deep(9, '[');
    const auto parsed = parse_json(deep, kLimits, "the body");
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == ErrorCode::invalid_argument);
    CHECK(parsed.error().cause == "the body is nested deeper than 8 levels");
    CHECK(parse_json("[[[[[[[[]]]]]]]]", kLimits, "the body").has_value());
}

TEST_CASE("brackets inside strings do not count as nesting") {
    CHECK(parse_json(R"(["[[[[[[[[[[[[\"[[[["])", kLimits, "the body").has_value());
}

TEST_CASE("parse_json names the byte where the error is") {
    const auto parsed = parse_json(R"({"a": nope})", kLimits, "the body");
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().cause == "the body is not JSON: error at byte 8");
}

TEST_CASE("parse_json refuses a document that is too large and one that is not UTF-8") {
    CHECK(parse_json(std::string(1001, ' '), kLimits, "x").error().code == ErrorCode::too_large);
    CHECK(parse_json("\"\xff\"", kLimits, "x").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("dump_ascii escapes everything that a line-based reader could split on") {
    CHECK(dump_ascii("a\u2028\u00e9\n") == R"("a\u2028\u00e9\n")");
    CHECK(dump_ascii(std::string("\xff")) == R"("\ufffd")");
}

TEST_CASE("field readers tell absent from wrong") {
    const Json object = {
        {"name", "x"}, {"n", 3}, {"less", -1}, {"none", nullptr}, {"big", 18446744073709551615ULL}};
    CHECK(optional_string(object, "name").value() == "x");
    CHECK_FALSE(optional_string(object, "none").value().has_value());
    CHECK_FALSE(optional_string(object, "missing").value().has_value());
    CHECK(optional_string(object, "n").error().cause == "field 'n' must be a string, not number");
    CHECK(optional_integer(object, "big").error().cause == "field 'big' is too large");
    CHECK(required_string(object, "missing").error().cause == "field 'missing' is missing");
    CHECK(required_integer(object, "n").value() == 3);
    CHECK(required_count(object, "n").value() == 3);
    CHECK(required_count(object, "less").error().cause == "field 'less' must not be negative");
}
