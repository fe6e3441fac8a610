#include "gateway/sandboxes/sandbox_note.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::gateway;

namespace {

SandboxNote note() {
    SandboxNote note;
    note.sandbox_id = "box1";
    note.revision = 7;
    note.started_at = WallTime(std::chrono::seconds(1'700'000'000));
    note.ends_at = WallTime(std::chrono::seconds(1'700'000'300));
    note.callers_default = CallersDefault::yes;
    note.spec.environment = {{"A", "\xc3\xa9"}};
    note.spec.metadata = {{"who", "me"}};
    note.spec.on_timeout = OnTimeout::pause;
    note.spec.lifetime = Lifetime::of_its_kernel;
    note.spec.timeout = std::chrono::seconds(42);
    note.spec.memory_limit_bytes = 512 * limits::MiB;
    note.spec.snapshot_id = "snap";
    ContextImage context;
    context.language = "python";
    context.kernel.spec.id = "kernel-1";
    context.kernel.spec.guest_id = "default";
    context.kernel.spec.working_directory = "/tmp";
    context.kernel.spec.environment = {{"B", "c"}};
    context.kernel.spec.launch.argv = {"/usr/bin/other", "{connection_file}"};
    context.kernel.spec.launch.interrupt_mode = kernel_proxy::InterruptMode::message;
    context.former_ids = {"older"};
    context.is_default = true;
    kernel_proxy::ChannelsImage channels;
    channels.base = 12;
    channels.sessions.push_back({"tab", 4});
    channels.requests.push_back({"m1", "execute_request", "tab"});
    context.kernel.channels = channels;
    note.contexts.push_back(context);
    return note;
}

}  // namespace

TEST_CASE("a note comes back as it was written") {
    const auto read = sandbox_note_from(to_text(note()));
    REQUIRE(read.has_value());
    CHECK(read->sandbox_id == "box1");
    CHECK(read->revision == 7);
    CHECK(read->started_at == note().started_at);
    CHECK(read->ends_at == note().ends_at);
    CHECK(read->callers_default == CallersDefault::yes);
    CHECK(read->spec.environment == note().spec.environment);
    CHECK(read->spec.metadata == note().spec.metadata);
    CHECK(read->spec.on_timeout == OnTimeout::pause);
    CHECK(read->spec.lifetime == Lifetime::of_its_kernel);
    CHECK(read->spec.timeout == std::chrono::seconds(42));
    CHECK(read->spec.memory_limit_bytes == 512 * limits::MiB);
    CHECK(read->spec.snapshot_id == "snap");
    REQUIRE(read->contexts.size() == 1);
    CHECK(read->contexts[0].kernel.spec.id == "kernel-1");
    CHECK(read->contexts[0].kernel.spec.guest_id == "default");
    CHECK(read->contexts[0].kernel.spec.working_directory == "/tmp");
    CHECK(read->contexts[0].kernel.spec.environment == note().contexts[0].kernel.spec.environment);
    const kernel_proxy::KernelLaunch& launch = read->contexts[0].kernel.spec.launch;
    CHECK(launch.argv == std::vector<std::string>{"/usr/bin/other", "{connection_file}"});
    CHECK(launch.interrupt_mode == kernel_proxy::InterruptMode::message);
    CHECK(read->contexts[0].former_ids == std::vector<std::string>{"older"});
    CHECK(read->contexts[0].is_default);
    REQUIRE(read->contexts[0].kernel.channels.has_value());
    const auto& channels = *read->contexts[0].kernel.channels;
    CHECK(channels.base == 12);
    REQUIRE(channels.sessions.size() == 1);
    CHECK(channels.sessions[0].name == "tab");
    CHECK(channels.sessions[0].has == 4);
    REQUIRE(channels.requests.size() == 1);
    CHECK(channels.requests[0].msg_type == "execute_request");
}

TEST_CASE("a damaged note is refused, wherever it was cut") {
    const std::string whole = to_text(note());
    for (std::size_t cut = 0; cut + 2 < whole.size(); ++cut) {
        CHECK_FALSE(sandbox_note_from(whole.substr(0, cut)).has_value());
    }
    for (const char* text : {"[]", "{}", "null", R"({"version": 2})"}) {
        CHECK_FALSE(sandbox_note_from(text).has_value());
    }
}
