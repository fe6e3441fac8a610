#include "vm/agent/guest_identity.h"

#include <doctest/doctest.h>

#include "base/clock.h"

using namespace cellblock;
using namespace cellblock::vm::agent;

TEST_CASE("a host name is letters, digits and inner hyphens") {
    for (const char* good : {"a", "sandbox-7", "iabc0123456789"}) CHECK(is_valid_hostname(good));
    for (const char* bad : {"", "-a", "a-", "a.b", "a b", "a\nb", "\xc3\xa4"}) {
        CHECK_FALSE(is_valid_hostname(bad));
    }
    CHECK_FALSE(is_valid_hostname(std::string(64, 'a')));
}

TEST_CASE("a clock that is right is left alone, and how far it was off comes back") {
    const auto step = set_clock(wall_clock_ns() + 1000, 10'000'000'000);
    REQUIRE(step);
    CHECK(step->stepped_ns == 0);
    CHECK(step->error_ns > -10'000'000'000);
    CHECK(step->error_ns < 10'000'000'000);
}

TEST_CASE("a time before this century and too little entropy are refused") {
    CHECK(set_clock(0, 0).error().code == ErrorCode::invalid_argument);
    const Bytes little(63);
    CHECK(add_entropy(little).error().code == ErrorCode::invalid_argument);
}
