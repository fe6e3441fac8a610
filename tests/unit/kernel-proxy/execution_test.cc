#include "kernel-proxy/execution.h"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/spawn.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

asio::awaitable<void> deliver_many(Execution& execution, int count, int& delivered) {
    for (int i = 0; i < count; ++i) {
        OutputEvent event = StreamText{StreamName::standard_output, std::to_string(i)};
        co_await execution.deliver(std::move(event), 1024 * 1024);
        ++delivered;
    }
}

asio::awaitable<void> take_all(Execution& execution, std::vector<std::string>& taken) {
    while (true) {
        auto event = co_await execution.next(steady_clock::now() + milliseconds(5000));
        REQUIRE(event.has_value());
        if (std::holds_alternative<Finished>(*event)) co_return;
        taken.push_back(std::get<StreamText>(*event).text);
    }
}

asio::awaitable<void> take_nothing_in_time(Execution& execution, bool& timed_out) {
    const auto event = co_await execution.next(steady_clock::now() + milliseconds(1));
    timed_out = !event.has_value();
}

}  // namespace

TEST_CASE("a slow consumer paces the kernel and gets every event in order") {
    asio::io_context loop;
    Execution execution(loop.get_executor(), ExecuteRequest());
    int delivered = 0;
    spawn_logged(loop.get_executor(), deliver_many(execution, 20, delivered), "deliver", nullptr);
    loop.run_for(milliseconds(10));
    // Four of 1 MiB fit into what may wait; the fifth waits too, and its sender with it.
    CHECK(delivered == 4);
    std::vector<std::string> taken;
    spawn_logged(loop.get_executor(), take_all(execution, taken), "take", nullptr);
    loop.restart();
    while (delivered < 20) loop.run_one();
    execution.finish(Finished{});
    loop.run();
    REQUIRE(taken.size() == 20);
    CHECK(taken.front() == "0");
    CHECK(taken.back() == "19");
}

TEST_CASE("next returns nothing when nothing comes by its deadline") {
    asio::io_context loop;
    Execution execution(loop.get_executor(), ExecuteRequest());
    bool timed_out = false;
    spawn_logged(loop.get_executor(), take_nothing_in_time(execution, timed_out), "take", nullptr);
    loop.run();
    CHECK(timed_out);
}

TEST_CASE("an abandoned execution frees a waiting kernel and asks for its end once") {
    asio::io_context loop;
    Execution execution(loop.get_executor(), ExecuteRequest());
    int stops = 0;
    execution.set_stop_listener([&stops] { ++stops; });
    int delivered = 0;
    spawn_logged(loop.get_executor(), deliver_many(execution, 20, delivered), "deliver", nullptr);
    loop.run_for(milliseconds(10));
    CHECK(delivered == 4);
    execution.abandon();
    execution.abandon();
    loop.restart();
    loop.run();
    CHECK(delivered == 20);
    CHECK(stops == 1);
    CHECK(execution.stop_reason() == StopReason::cancelled);
}

TEST_CASE("an execution finishes once and takes nothing afterwards") {
    asio::io_context loop;
    Execution execution(loop.get_executor(), ExecuteRequest());
    execution.finish(Finished{Outcome::timeout, {}});
    execution.finish(Finished{Outcome::ok, {}});
    int delivered = 0;
    spawn_logged(loop.get_executor(), deliver_many(execution, 1, delivered), "deliver", nullptr);
    std::vector<std::string> taken;
    spawn_logged(loop.get_executor(), take_all(execution, taken), "take", nullptr);
    loop.run();
    CHECK(taken.empty());
    CHECK(execution.state() == ExecutionState::finished);
}

TEST_CASE("a copy has what waits to be taken, and goes its own way") {
    asio::io_context loop;
    Execution execution(loop.get_executor(), ExecuteRequest());
    execution.set_running();
    int delivered = 0;
    spawn_logged(loop.get_executor(), deliver_many(execution, 2, delivered), "deliver", nullptr);
    loop.run();
    const auto copy = execution.copy(loop.get_executor());
    CHECK(copy->state() == ExecutionState::running);
    execution.finish(Finished{Outcome::interrupted});
    CHECK(copy->state() == ExecutionState::running);
    loop.restart();
    spawn_logged(loop.get_executor(), deliver_many(*copy, 1, delivered), "deliver", nullptr);
    loop.run();
    copy->finish(Finished{});
    std::vector<std::string> taken;
    std::vector<std::string> taken_by_copy;
    loop.restart();
    spawn_logged(loop.get_executor(), take_all(execution, taken), "take", nullptr);
    spawn_logged(loop.get_executor(), take_all(*copy, taken_by_copy), "take", nullptr);
    loop.run();
    CHECK(taken == std::vector<std::string>{"0", "1"});
    CHECK(taken_by_copy == std::vector<std::string>{"0", "1", "0"});
}
