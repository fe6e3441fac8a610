#include "vm/agent/retained_messages.h"

#include <doctest/doctest.h>

#include <string>

using namespace cellblock;
using namespace cellblock::vm;
using namespace cellblock::vm::agent;

namespace {

Multipart message(const std::string& text) {
    Multipart parts;
    parts.emplace_back(text.data(), text.size());
    return parts;
}

std::string text_of(const std::shared_ptr<const RetainedMessages::Entry>& entry) {
    return entry ? std::string(entry->message[0].data<char>(), entry->message[0].size()) : "-";
}

// Messages "1" to "count", all sent.
RetainedMessages sent(int count) {
    RetainedMessages retained;
    for (int i = 1; i <= count; ++i) {
        retained.add(link::Channel::iopub, message(std::to_string(i)));
        retained.mark_sent();
    }
    return retained;
}

}  // namespace

TEST_CASE("what was sent is said again to a host that goes on, behind what it has") {
    RetainedMessages retained = sent(5);
    CHECK_FALSE(retained.next());
    REQUIRE(retained.resume_after(2));
    for (const char* expected : {"3", "4", "5"}) {
        CHECK(text_of(retained.next()) == expected);
        retained.mark_sent();
    }
    CHECK_FALSE(retained.next());
    retained.add(link::Channel::shell, message("6"));
    CHECK(text_of(retained.next()) == "6");
}

TEST_CASE("what is confirmed is let go of, and nobody can go on before it") {
    RetainedMessages retained = sent(5);
    retained.acknowledge(3);
    CHECK_FALSE(retained.resume_after(2));
    CHECK(retained.resume_after(3));
    CHECK(text_of(retained.next()) == "4");
}

TEST_CASE("nobody can confirm, or have, what was not sent") {
    RetainedMessages retained = sent(2);
    retained.add(link::Channel::iopub, message("3"));
    retained.acknowledge(100);
    CHECK(text_of(retained.next()) == "3");
    CHECK_FALSE(retained.resume_after(100));
    CHECK(retained.resume_after(2));
    CHECK(retained.resume_after(3));
    CHECK_FALSE(retained.next());
}

TEST_CASE("a message that cannot be sent counts for nothing") {
    RetainedMessages retained = sent(1);
    retained.add(link::Channel::iopub, message("refused"));
    retained.add(link::Channel::iopub, message("2"));
    retained.drop_next();
    CHECK(text_of(retained.next()) == "2");
    retained.mark_sent();
    REQUIRE(retained.resume_after(1));
    CHECK(text_of(retained.next()) == "2");
}

TEST_CASE("a host that begins anew counts from one") {
    RetainedMessages retained = sent(4);
    retained.begin_anew();
    CHECK_FALSE(retained.next());
    retained.add(link::Channel::iopub, message("first"));
    REQUIRE(retained.resume_after(0));
    CHECK(text_of(retained.next()) == "first");
}

TEST_CASE("the kernel is paced when too much is not confirmed, until it is") {
    RetainedMessages retained;
    const std::string large(retained_max_bytes / 2, 'x');
    CHECK(retained.has_room());
    for (int i = 0; i < 2; ++i) {
        retained.add(link::Channel::iopub, message(large));
        retained.mark_sent();
    }
    CHECK_FALSE(retained.has_room());
    retained.acknowledge(1);
    CHECK(retained.has_room());
}

TEST_CASE("a message that is on its way stays whole when it is let go of meanwhile") {
    RetainedMessages retained;
    retained.add(link::Channel::iopub, message("on its way"));
    const auto held = retained.next();
    REQUIRE(retained.resume_after(1));
    CHECK(text_of(held) == "on its way");
}
