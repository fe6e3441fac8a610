#include "gateway/jobs/call_policy.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::gateway::jobs;

namespace {

CallPolicy policy_of(const std::vector<std::string>& entries) {
    auto policy = CallPolicy::parse(entries);
    REQUIRE_MESSAGE(policy.has_value(), (policy ? "" : policy.error().text()));
    return std::move(*policy);
}

bool allows(const CallPolicy& policy, const std::string& host, const char* address) {
    return policy.allows(host, boost::asio::ip::make_address(address));
}

}  // namespace

TEST_CASE("what only the gateway can reach is not public") {
    for (const char* address : {"0.0.0.0",
                                "10.1.2.3",
                                "100.64.0.1",
                                "127.0.0.1",
                                "127.255.255.254",
                                "169.254.169.254",
                                "172.16.0.1",
                                "172.31.255.255",
                                "192.0.0.8",
                                "192.168.1.1",
                                "198.18.0.1",
                                "224.0.0.1",
                                "240.0.0.1",
                                "255.255.255.255",
                                "::",
                                "::1",
                                "fe80::1",
                                "fc00::1",
                                "fd12::1",
                                "ff02::1",
                                "::ffff:127.0.0.1",
                                "::ffff:10.0.0.1",
                                "64:ff9b::a00:1",
                                "2002:7f00:1::1",
                                "2001:db8::1",
                                "2001::1"}) {
        CAPTURE(address);
        CHECK_FALSE(is_public(boost::asio::ip::make_address(address)));
    }
    for (const char* address : {"1.1.1.1", "172.32.0.1", "172.15.255.255", "192.0.1.1",
                                "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"}) {
        CAPTURE(address);
        CHECK(is_public(boost::asio::ip::make_address(address)));
    }
}

TEST_CASE("by default every public address may be called and no other") {
    const CallPolicy policy = policy_of({"*"});
    CHECK(allows(policy, "hooks.example.org", "93.184.216.34"));
    // A name that resolves to an address of ours is of no use to its owner.
    CHECK_FALSE(allows(policy, "hooks.example.org", "127.0.0.1"));
    CHECK(policy.check_host("hooks.example.org"));
    for (const char* host : {"localhost", "a.localhost", "127.0.0.1", "10.0.0.1", "::1"}) {
        CAPTURE(host);
        const auto checked = policy.check_host(host);
        REQUIRE_FALSE(checked);
        CHECK(checked.error().code == ErrorCode::forbidden);
        CHECK(checked.error().advice.find("webhook_hosts") != std::string::npos);
    }
}

TEST_CASE("the operator's names and ranges may be called wherever they lie") {
    const CallPolicy policy = policy_of({"hooks.internal", "*.Example.org", "10.2.0.0/16", "::1"});
    CHECK(allows(policy, "hooks.internal", "192.168.7.7"));
    CHECK(allows(policy, "a.example.org", "10.9.9.9"));
    CHECK_FALSE(allows(policy, "example.org", "10.9.9.9"));
    CHECK_FALSE(allows(policy, "badexample.org", "10.9.9.9"));
    CHECK(allows(policy, "anything", "10.2.3.4"));
    CHECK(allows(policy, "anything", "::ffff:10.2.3.4"));
    CHECK_FALSE(allows(policy, "anything", "10.3.0.1"));
    CHECK(policy.check_host("localhost"));
    // Without "*", public addresses are not called either.
    CHECK_FALSE(allows(policy, "other.example.com", "93.184.216.34"));
    CHECK_FALSE(policy.check_host("93.184.216.34"));
}

TEST_CASE("an empty list calls nobody, and a wrong entry is told") {
    const CallPolicy nobody = policy_of({});
    CHECK_FALSE(nobody.check_host("hooks.example.org"));
    CHECK_FALSE(allows(nobody, "hooks.example.org", "93.184.216.34"));
    for (const char* entry : {"", "http://x", "a b", "10.0.0.0/99", "*.*"}) {
        CAPTURE(entry);
        CHECK(CallPolicy::parse({entry}).error().code == ErrorCode::invalid_argument);
    }
}
