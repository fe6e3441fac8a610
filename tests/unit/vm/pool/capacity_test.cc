#include "vm/pool/capacity.h"

#include <doctest/doctest.h>
#include <boost/asio/io_context.hpp>

#include "base/spawn.h"

namespace asio = boost::asio;

using namespace std::chrono_literals;

namespace cellblock::vm {
namespace {

using Outcome = std::optional<Result<Slot>>;

struct CapacityFixture {
    asio::io_context loop;
    CapacityOptions options;
    std::shared_ptr<Capacity> capacity;

    CapacityFixture() {
        options.machines_max = 2;
        options.memory_max_bytes = 1000;
        options.wait_max = 10s;
        options.look_again = 5ms;
    }
    void make() { capacity = std::make_shared<Capacity>(loop.get_executor(), options); }
    // Begins to reserve; `out` is set once it has ended.
    void reserve(Share share, Outcome& out) {
        auto work = [](std::shared_ptr<Capacity> from, Share wanted,
                       Outcome& to) -> asio::awaitable<void> {
            to.emplace(co_await from->reserve(wanted));
        };
        spawn_logged(loop.get_executor(), work(capacity, share, out), "reserve", nullptr);
        turn();
    }
    void turn() {
        loop.restart();
        loop.poll();
    }
    void until(const Outcome& out) {
        const auto deadline = std::chrono::steady_clock::now() + 10s;
        loop.restart();
        while (!out) {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            loop.run_one_for(50ms);
        }
    }
};

}  // namespace

TEST_CASE("room is given at once, and a slot gives it back") {
    CapacityFixture f;
    f.make();
    Outcome one;
    f.reserve({1, 600}, one);
    REQUIRE(one.has_value());
    REQUIRE(one->has_value());
    CHECK(f.capacity->used().memory_bytes == 600);
    one.reset();
    CHECK(f.capacity->used().machines == 0);
    CHECK(f.capacity->used().memory_bytes == 0);
}

TEST_CASE("who finds no room waits in line: a small wish does not overtake a large one") {
    CapacityFixture f;
    f.make();
    Outcome first, large, small;
    f.reserve({1, 600}, first);
    f.reserve({1, 900}, large);
    f.reserve({1, 100}, small);
    CHECK_FALSE(large.has_value());
    CHECK_FALSE(small.has_value());
    CHECK(f.capacity->waiting() == 2);
    CHECK_FALSE(f.capacity->try_reserve({1, 100}).has_value());
    first.reset();
    f.until(large);
    CHECK(large->has_value());
    f.until(small);
    CHECK(small->has_value());
    CHECK(f.capacity->waiting() == 0);
}

TEST_CASE("a wait without end ends, with what is lacking and what to do") {
    CapacityFixture f;
    f.options.wait_max = 20ms;
    f.make();
    Outcome first, machines, memory;
    f.reserve({2, 600}, first);
    f.reserve({1, 0}, machines);
    f.until(machines);
    REQUIRE_FALSE(machines->has_value());
    CHECK(machines->error().code == ErrorCode::unavailable);
    CHECK(machines->error().cause == "all 2 machines are in use");
    f.reserve({0, 500}, memory);
    f.until(memory);
    REQUIRE_FALSE(memory->has_value());
    CHECK(memory->error().cause.find("promised") != std::string::npos);
    CHECK_FALSE(memory->error().advice.empty());
    CHECK(f.capacity->waiting() == 0);
}

TEST_CASE("the line has an end: further ones are told at once") {
    CapacityFixture f;
    f.options.waiting_max = 1;
    f.make();
    Outcome first, second, third;
    f.reserve({2, 0}, first);
    f.reserve({1, 0}, second);
    f.reserve({1, 0}, third);
    CHECK_FALSE(second.has_value());
    REQUIRE(third.has_value());
    CHECK(third->error().code == ErrorCode::too_many);
}

TEST_CASE("nothing new starts while the host is short of memory, whatever was promised") {
    CapacityFixture f;
    std::uint64_t available = 100;
    f.options.host_available_bytes = [&available] { return available; };
    f.options.host_reserve_bytes = 200;
    f.make();
    CHECK_FALSE(f.capacity->try_reserve({1, 10}).has_value());
    Outcome waiting;
    f.reserve({1, 10}, waiting);
    CHECK_FALSE(waiting.has_value());
    available = 300;  // nobody tells: it looks again by itself
    f.until(waiting);
    CHECK(waiting->has_value());
}

TEST_CASE("a slot that took another in gives both back") {
    CapacityFixture f;
    f.make();
    auto machine = f.capacity->try_reserve({1, 100});
    auto memory = f.capacity->try_reserve({0, 500});
    REQUIRE(machine.has_value());
    REQUIRE(memory.has_value());
    machine->absorb(std::move(*memory));
    memory.reset();
    CHECK(f.capacity->used().memory_bytes == 600);
    machine.reset();
    CHECK(f.capacity->used().memory_bytes == 0);
    CHECK(f.capacity->used().machines == 0);
}

}  // namespace cellblock::vm
