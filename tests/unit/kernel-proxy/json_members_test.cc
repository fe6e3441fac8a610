#include "kernel-proxy/json_members.h"

#include <doctest/doctest.h>

#include <string>

using namespace cellblock::kernel_proxy;

TEST_CASE("members are slices of the text, byte for byte") {
    const auto members =
        split_json_object(R"( { "a" : 1.0 , "b":{"x":[1,{"}":"]"}]}, "c":"\"," } )");
    REQUIRE(members.has_value());
    REQUIRE(members->size() == 3);
    CHECK(find_member(*members, "a") == "1.0");
    CHECK(find_member(*members, "b") == R"({"x":[1,{"}":"]"}]})");
    CHECK(find_member(*members, "c") == R"("\",")");
    CHECK(find_member(*members, "d").empty());
}

TEST_CASE("of two members with one name the last counts, as for JSON parsers") {
    const auto members = split_json_object(R"({"a":1,"a":2})");
    CHECK(find_member(members.value(), "a") == "2");
}

TEST_CASE("an empty object has no members") {
    CHECK(split_json_object(" {\n} ").value().empty());
}

TEST_CASE("what is no object is refused") {
    for (const char* text :
         {"", "{", "[]", "1", R"({"a"})", R"({"a":})", R"({"a":1,})", R"({"a":1}x)", R"({a:1})",
          R"({"a":[1})", R"({"a":{]}})", R"({"a":"x)", R"({"a":1 "b":2})", "{\"a\":\"\n\"}",
          "{\"a\":\"\xff\"}", R"({"a":1},"b":2})", R"({"a\)"}) {
        CAPTURE(text);
        CHECK_FALSE(split_json_object(text).has_value());
    }
}

TEST_CASE("nesting is bounded") {
    const auto nested = [](std::size_t depth) {
        return R"({"a":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
    };
    CHECK(split_json_object(nested(json_members_max_depth)).has_value());
    CHECK_FALSE(split_json_object(nested(json_members_max_depth + 1)).has_value());
    CHECK_FALSE(split_json_object(nested(1'000'000)).has_value());
}
