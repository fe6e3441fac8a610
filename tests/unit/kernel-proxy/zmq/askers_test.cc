#include "kernel-proxy/zmq/askers.h"

#include <doctest/doctest.h>

#include "base/limits.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy::zmq_door;

TEST_CASE("a reply goes to its asker, once") {
    Askers askers;
    askers.add("1", {"a"});
    askers.add("2", {"b"});
    REQUIRE(askers.find("1"));
    CHECK(*askers.find("1") == Identities{"a"});
    CHECK(*askers.find("2") == Identities{"b"});
    askers.forget("1");
    CHECK(askers.find("1") == nullptr);
    CHECK(askers.find("2"));
}

TEST_CASE("requests that are never answered do not add up") {
    Askers askers;
    for (std::size_t i = 0; i < 3 * limits::client_requests_open_max; ++i) {
        askers.add(std::to_string(i), {"a"});
    }
    CHECK(askers.size() == limits::client_requests_open_max);
    CHECK(askers.find("0") == nullptr);
    CHECK(askers.find(std::to_string(3 * limits::client_requests_open_max - 1)));
}

TEST_CASE("an id that is used again belongs to who used it last, for as long as a new one would") {
    Askers askers;
    askers.add("1", {"a"});
    askers.add("1", {"b"});
    for (std::size_t i = 0; i < limits::client_requests_open_max - 1; ++i) {
        askers.add("other " + std::to_string(i), {"c"});
    }
    REQUIRE(askers.find("1"));
    CHECK(*askers.find("1") == Identities{"b"});
}
