#include "base/ids.h"

#include <doctest/doctest.h>

#include <set>

using namespace cellblock;

TEST_CASE("a new UUID has the form, the version and the variant of RFC 9562 version 4") {
    const std::string id = new_uuid();
    REQUIRE(id.size() == 36);
    CHECK(id[8] == '-');
    CHECK(id[14] == '4');
    CHECK(std::string("89ab").find(id[19]) != std::string::npos);
    CHECK(is_valid_id(id));
}

TEST_CASE("a thousand short ids are all different and all valid") {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        const std::string id = new_short_id();
        CHECK(id.size() == 20);
        CHECK(is_valid_id(id));
        seen.insert(id);
    }
    CHECK(seen.size() == 1000);
}

TEST_CASE("ids that could leave a path or a query are refused") {
    for (const char* bad : {"", "..", "a/b", "a b", "a\n", "a%2f", "\xc3\xa9"}) {
        CAPTURE(bad);
        CHECK_FALSE(is_valid_id(bad));
    }
    CHECK_FALSE(is_valid_id(std::string(65, 'a')));
}

TEST_CASE("constant-time comparison agrees with plain comparison") {
    CHECK(equal_in_constant_time("secret", "secret"));
    CHECK_FALSE(equal_in_constant_time("secret", "secreT"));
    CHECK_FALSE(equal_in_constant_time("secret", "secret2"));
    CHECK(equal_in_constant_time("", ""));
}
