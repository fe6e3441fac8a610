// A started kernel over a fake guest, and ways to drive it to a point.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/kernel-proxy/fake_guest.h"

namespace cellblock::kernel_proxy::testing {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Ended {
    std::vector<OutputEvent> events;
    Finished finished;
    std::string text;  // of all stream messages
    std::vector<std::string> errors;
};

inline asio::awaitable<void> collect(std::shared_ptr<Execution> execution, Ended& ended,
                                     bool& done) {
    while (!done) {
        auto event = co_await execution->next(steady_clock::now() + milliseconds(60'000));
        REQUIRE(event.has_value());
        if (const auto* finished = std::get_if<Finished>(&*event)) {
            ended.finished = *finished;
            done = true;
        } else if (const auto* text = std::get_if<StreamText>(&*event)) {
            ended.text += text->text;
        } else if (const auto* error = std::get_if<CellError>(&*event)) {
            ended.errors.push_back(error->name);
        }
        ended.events.push_back(std::move(*event));
    }
}

struct Fixture {
    asio::io_context loop;
    FakeGuest guest{loop};
    std::vector<Error> unresponsive;
    std::shared_ptr<Kernel> kernel;

    Fixture() {
        KernelSpec spec;
        spec.id = "host-id";
        spec.guest_id = "guest-id";
        kernel =
            std::make_shared<Kernel>(loop.get_executor(), guest.host, spec,
                                     [this](const Error& error) { unresponsive.push_back(error); });
        guest.on_death = [this](const KernelDeath& death) { kernel->on_died(death); };
        bool started = false;
        spawn_logged(loop.get_executor(), start(started), "start", nullptr);
        until([&] { return started; });
    }
    ~Fixture() {
        kernel->close(Outcome::cancelled, Error(ErrorCode::cancelled, "the test is over"));
    }

    asio::awaitable<void> start(bool& started) {
        const auto result = co_await kernel->start();
        REQUIRE(result.has_value());
        started = true;
    }

    template <typename Condition>
    void until(Condition condition) {
        const auto deadline = steady_clock::now() + std::chrono::seconds(60);
        while (!condition()) {
            REQUIRE(steady_clock::now() < deadline);
            loop.run_one_for(milliseconds(100));
            if (loop.stopped()) loop.restart();
        }
    }

    std::shared_ptr<Execution> submit(std::string code,
                                      milliseconds timeout = milliseconds(30'000)) {
        ExecuteRequest request;
        request.code = std::move(code);
        request.timeout = timeout;
        return kernel->execute(std::move(request)).value();
    }

    Ended finish(std::shared_ptr<Execution> execution) {
        Ended ended;
        bool done = false;
        spawn_logged(loop.get_executor(), collect(std::move(execution), ended, done), "collect",
                     nullptr);
        until([&] { return done; });
        return ended;
    }

    Ended run(std::string code, milliseconds timeout = milliseconds(30'000)) {
        return finish(submit(std::move(code), timeout));
    }
};

}  // namespace cellblock::kernel_proxy::testing
