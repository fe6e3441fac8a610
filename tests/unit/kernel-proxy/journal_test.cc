#include "kernel-proxy/journal.h"

#include <doctest/doctest.h>

#include "tests/unit/kernel-proxy/messages.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
using Weight = Journal::Weight;

namespace {

SharedMessage message_of(std::size_t bytes) {
    return std::make_shared<const KernelMessage>(
        testing::make_iopub("stream", std::string(bytes, 'x')));
}

}  // namespace

TEST_CASE("a full journal lets go of the oldest output, and not of what clients wait for") {
    Journal journal(10'000, 1000);
    journal.append(message_of(3000), "", Weight::bulk);
    journal.append(message_of(1000), "", Weight::essential);
    journal.append(message_of(3000), "", Weight::bulk);
    journal.append(message_of(5000), "", Weight::bulk);
    CHECK(journal.bytes() <= 10'000);
    CHECK(journal.at(0).message == nullptr);
    CHECK(journal.at(1).message != nullptr);
    CHECK(journal.at(2).message != nullptr);
    CHECK(journal.at(3).message != nullptr);
    CHECK(journal.bulk_gone_before() == 1);
}

TEST_CASE("what clients wait for takes half of the room at most") {
    Journal journal(10'000, 1000);
    for (int i = 0; i < 100; ++i) journal.append(message_of(1000), "", Weight::essential);
    journal.append(message_of(2000), "", Weight::bulk);
    journal.append(message_of(2000), "", Weight::bulk);
    CHECK(journal.bytes() <= 10'000);
    CHECK(journal.at(journal.end() - 1).message != nullptr);
    CHECK(journal.at(journal.end() - 2).message != nullptr);
}

TEST_CASE("one message of any size passes") {
    Journal journal(1000, 10);
    journal.append(message_of(100), "", Weight::bulk);
    journal.append(message_of(50'000), "", Weight::bulk);
    REQUIRE(journal.end() == 2);
    CHECK(journal.at(1).message != nullptr);
}

TEST_CASE("the number of entries is bounded, whatever their weight") {
    Journal journal(1'000'000, 10);
    for (int i = 0; i < 25; ++i) journal.append(message_of(1), "", Weight::essential);
    CHECK(journal.begin() == 15);
    CHECK(journal.end() == 25);
    CHECK(journal.bulk_gone_before() == 15);
}

TEST_CASE("what is forgotten because all have it is no loss") {
    Journal journal(1000, 10);
    for (int i = 0; i < 4; ++i) journal.append(message_of(1), "", Weight::bulk);
    journal.forget_before(3);
    CHECK(journal.begin() == 3);
    CHECK(journal.bulk_gone_before() == 0);
    CHECK(journal.lag_bytes(3) == journal.at(3).bytes);
    CHECK(journal.lag_bytes(4) == 0);
    CHECK(journal.lag_bytes(0) == journal.at(3).bytes);
    journal.forget_before(100);
    CHECK(journal.begin() == journal.end());
    CHECK(journal.bytes() == 0);
}
