#include "base/ordered_object.h"

#include <string>

#include <doctest/doctest.h>

#include "base/json.h"

using namespace cellblock;

namespace {

Json numbered(int count) {
    Json object = Json::object();
    for (int i = count; i > 0; --i) object["name" + std::to_string(i)] = i;
    return object;
}

}  // namespace

TEST_CASE("members come out in the order in which they went in, parsed or built") {
    CHECK(Json::parse(R"({"z":1,"a":{"y":2,"b":3}})").dump() == R"({"z":1,"a":{"y":2,"b":3}})");
    CHECK(Json{{"z", 1}, {"a", 2}}.dump() == R"({"z":1,"a":2})");
    const Json large = numbered(100);
    CHECK(large.begin().key() == "name100");
    CHECK(std::prev(large.end()).key() == "name1");
}

TEST_CASE("a name that comes twice keeps its place and takes the last value") {
    CHECK(Json::parse(R"({"a":1,"b":2,"a":3})").dump() == R"({"a":3,"b":2})");
}

TEST_CASE("every member is found by its name in a small and in a large object") {
    for (const int count : {1, 16, 17, 18, 1000}) {
        const Json object = numbered(count);
        REQUIRE(object.size() == static_cast<std::size_t>(count));
        for (int i = 1; i <= count; ++i) CHECK(object.at("name" + std::to_string(i)) == i);
        CHECK_FALSE(object.contains("name0"));
        CHECK(object.find(std::string_view("none")) == object.end());
    }
}

TEST_CASE("a reference to a member lives through insertions") {
    Json object = Json::object();
    Json& first = object["first"];
    for (int i = 0; i < 1000; ++i) object[std::to_string(i)] = i;
    first = "still here";
    CHECK(object.at("first") == "still here");
}

TEST_CASE("copies and moved objects find their members, and do not share them") {
    Json original = numbered(50);
    Json copy = original;
    copy["name7"] = "changed";
    CHECK(original.at("name7") == 7);
    CHECK(copy.at("name7") == "changed");
    const Json moved = std::move(copy);
    CHECK(moved.at("name50") == 50);
    CHECK(moved.at("name7") == "changed");
    original = moved;
    CHECK(original.at("name7") == "changed");
}

TEST_CASE("erased members are gone, the others stay in order") {
    Json object = numbered(40);
    CHECK(object.erase("name20") == 1);
    CHECK(object.erase("name20") == 0);
    object.erase(object.begin());
    CHECK_FALSE(object.contains("name20"));
    CHECK_FALSE(object.contains("name40"));
    CHECK(object.size() == 38);
    CHECK(object.begin().key() == "name39");
    CHECK(object.at("name1") == 1);
    object.clear();
    CHECK(object.empty());
    object["again"] = 1;
    CHECK(object.dump() == R"({"again":1})");
}

TEST_CASE("objects are equal whatever their order") {
    CHECK(Json::parse(R"({"a":1,"b":[2]})") == Json::parse(R"({"b":[2],"a":1})"));
    CHECK(Json::parse(R"({"a":1,"b":2})") != Json::parse(R"({"a":1,"b":3})"));
    CHECK(Json::parse(R"({"a":1})") != Json::parse(R"({"b":1})"));
    CHECK(Json::parse(R"({"a":1})") != Json::parse(R"({"a":1,"b":1})"));
}
