#include "vm/pool/pool.h"

#include <doctest/doctest.h>

#include <set>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/ids.h"
#include "base/spawn.h"
#include "tests/unit/vm/run_loop.h"
#include "vm/pool/start_gate.h"

using namespace cellblock;
using namespace cellblock::vm;
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// What the fake driver does next, and what it has seen.
struct Driver {
    bool fail_starts = false;
    bool fail_checks = false;
    bool fail_claims = false;
    bool fail_warm_ups = false;
    std::chrono::milliseconds start_time{1};
    int starts = 0;
    int starting_now = 0;
    int starting_most = 0;
    int warm_ups = 0;
    std::set<std::string> alive;
    std::map<std::string, std::function<void()>> crash;
};

class FakeMachine final : public Machine {
  public:
    explicit FakeMachine(std::shared_ptr<Driver> driver)
        : driver_(std::move(driver)), id_(new_short_id()) {
        driver_->alive.insert(id_);
        driver_->crash[id_] = [this] { end(ExitReason::process_died); };
    }
    ~FakeMachine() override {
        handlers_.clear();
        end(ExitReason::killed);
        driver_->crash.erase(id_);
    }
    const std::string& id() const override { return id_; }
    const MachineInfo& info() const override { return info_; }
    link::Link& link() override { std::abort(); }
    bool alive() const override { return driver_->alive.contains(id_); }
    void on_stream(StreamHandler) override {}
    asio::awaitable<Result<void>> rehearse_claim() override { co_return Result<void>(); }
    asio::awaitable<Result<void>> claim(ClaimRequest request) override {
        hostname = request.hostname;
        if (!driver_->fail_claims) co_return Result<void>();
        co_await kill("claim failed");
        co_return fail(ErrorCode::internal, "no entropy");
    }
    const ClaimReply& claimed() const override { return reply_; }
    asio::awaitable<Result<void>> check(std::chrono::milliseconds) override {
        if (driver_->fail_checks) co_return fail(ErrorCode::timeout, "silence");
        co_return Result<void>();
    }
    asio::awaitable<Result<MachineStatePointer>> capture(AfterCapture,
                                                         std::function<void()>) override {
        co_return fail(ErrorCode::not_supported, "a fake has no memory");
    }
    asio::awaitable<Result<void>> go_on() override { co_return Result<void>(); }
    std::shared_ptr<link::Link> detach_link() override { return nullptr; }
    Result<void> set_note(std::string_view) override { return {}; }
    asio::awaitable<void> kill(std::string) override {
        end(ExitReason::killed);
        co_return;
    }
    void on_exit(ExitHandler handler) override { handlers_.push_back(std::move(handler)); }
    asio::awaitable<Result<MemoryUsage>> memory_usage() override { co_return MemoryUsage(); }
    asio::awaitable<std::string> console_tail() override { co_return std::string(); }

    std::string hostname;

  private:
    void end(ExitReason reason) {
        if (driver_->alive.erase(id_) == 0) return;
        ExitInfo info;
        info.reason = reason;
        const auto handlers = std::move(handlers_);
        handlers_.clear();
        for (const auto& handler : handlers) handler(info);
    }

    std::shared_ptr<Driver> driver_;
    std::string id_;
    MachineInfo info_;
    ClaimReply reply_;
    std::vector<ExitHandler> handlers_;
};

asio::awaitable<void> pause_for(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(as_tuple_awaitable);
}

asio::awaitable<Result<std::unique_ptr<Machine>>> start_fake(std::shared_ptr<Driver> driver) {
    ++driver->starts;
    ++driver->starting_now;
    driver->starting_most = std::max(driver->starting_most, driver->starting_now);
    co_await pause_for(driver->start_time);
    --driver->starting_now;
    if (driver->fail_starts) co_return fail(ErrorCode::not_found, "no such file: QEMU");
    co_return std::make_unique<FakeMachine>(driver);
}

asio::awaitable<Result<void>> warm_fake(std::shared_ptr<Driver> driver) {
    ++driver->warm_ups;
    if (driver->fail_warm_ups) co_return fail(ErrorCode::timeout, "the cell did not end");
    co_return Result<void>();
}

struct PoolFixture {
    asio::io_context loop;
    std::shared_ptr<Driver> driver = std::make_shared<Driver>();
    PoolOptions options;
    std::unique_ptr<Pool> pool;

    PoolFixture() {
        options.target = 3;
        options.capacity.machines_max = 6;
        options.capacity.wait_max = 0ms;
        options.backoff_min = 10ms;
        options.backoff_max = 40ms;
    }
    void make() {
        auto start = [driver = driver] { return start_fake(driver); };
        auto warm = [driver = driver](Machine&) { return warm_fake(driver); };
        pool = std::make_unique<Pool>(loop.get_executor(), start, warm, options);
        pool->start();
    }
    // Runs the loop until `condition` holds; fails the test if it never does.
    template <typename Condition>
    void until(Condition condition) {
        const auto deadline = std::chrono::steady_clock::now() + 10s;
        loop.restart();
        while (!condition()) {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            loop.run_one_for(50ms);
        }
    }
    void fill() {
        until([this] { return pool->status().warm == options.target; });
    }
    auto take() { return run_on(loop, pool->take(ClaimRequest())); }
};

}  // namespace

TEST_CASE("fills to its target with warmed machines, a few at a time, and not beyond") {
    PoolFixture f;
    f.make();
    f.fill();
    CHECK(f.driver->warm_ups == 3);
    CHECK(f.driver->starts == 3);
    CHECK(f.driver->starting_most <= 2);
    f.loop.run_for(30ms);
    CHECK(f.driver->starts == 3);
}

TEST_CASE("a take hands out a warm machine, claimed, and the pool fills up again") {
    PoolFixture f;
    f.make();
    f.fill();
    auto machine = f.take();
    REQUIRE(machine.has_value());
    CHECK((*machine)->alive());
    CHECK(f.pool->status().hits == 1);
    f.fill();
    CHECK(f.pool->status().taken == 1);
    CHECK(f.driver->alive.size() == 4);
}

TEST_CASE("an empty pool starts a clone for the one who asks") {
    PoolFixture f;
    f.options.target = 0;
    f.make();
    auto machine = f.take();
    REQUIRE(machine.has_value());
    CHECK(f.pool->status().misses == 1);
    CHECK(f.driver->warm_ups == 0);
    f.driver->fail_starts = true;
    const auto failed = f.take();
    CHECK(failed.error().cause.find("no such file: QEMU") != std::string::npos);
    CHECK(failed.error().code == ErrorCode::io);  // it is not the caller's sandbox that is missing
    CHECK(f.pool->status().taken == 1);
}

TEST_CASE("a machine that does not answer, or cannot be claimed, is never handed out") {
    PoolFixture f;
    f.make();
    f.fill();
    f.driver->fail_checks = true;
    auto machine = f.take();  // all three are thrown away, then a clone is started
    REQUIRE(machine.has_value());
    CHECK(f.pool->status().check_failures >= 3);
    CHECK(f.pool->status().misses == 1);
    f.driver->fail_checks = false;
    f.fill();
    f.driver->fail_claims = true;
    CHECK_FALSE(f.take().has_value());
    f.loop.run_for(20ms);
    CHECK(f.driver->alive.size() <= 1 + f.options.target);
}

TEST_CASE("a warm machine that dies is replaced, and was never taken") {
    PoolFixture f;
    f.make();
    f.fill();
    const std::string id = *f.driver->alive.begin();
    f.driver->crash[id]();
    CHECK(f.pool->status().warm == 2);
    f.fill();
    CHECK_FALSE(f.driver->alive.contains(id));
    CHECK(f.driver->alive.size() == 3);
}

TEST_CASE("machines beyond the limit are refused with advice, and a death makes room") {
    PoolFixture f;
    f.options.target = 0;
    f.options.capacity.machines_max = 2;
    f.make();
    auto first = f.take();
    auto second = f.take();
    REQUIRE(second.has_value());
    const auto third = f.take();
    REQUIRE_FALSE(third.has_value());
    CHECK(third.error().code == ErrorCode::unavailable);
    CHECK_FALSE(third.error().advice.empty());
    CHECK(f.pool->status().refused == 1);
    f.driver->crash[(*first)->id()]();  // its owner still holds the object
    CHECK(f.take().has_value());
    second->reset();
    CHECK(f.take().has_value());
}

TEST_CASE("a take without room waits for a machine's end") {
    PoolFixture f;
    f.options.target = 0;
    f.options.capacity.machines_max = 1;
    f.options.capacity.wait_max = 10s;
    f.make();
    auto first = f.take();
    REQUIRE(first.has_value());
    std::optional<Result<std::unique_ptr<Machine>>> second;
    auto wait = [](Pool& pool, auto& out) -> asio::awaitable<void> {
        out.emplace(co_await pool.take(ClaimRequest()));
    };
    spawn_logged(f.loop.get_executor(), wait(*f.pool, second), "take", nullptr);
    f.until([&f] { return f.pool->status().waiting == 1; });
    CHECK_FALSE(second.has_value());
    first->reset();
    f.until([&second] { return second.has_value(); });
    CHECK(second->has_value());
    CHECK(f.pool->status().refused == 0);
}

TEST_CASE("what machines may come to use is counted, warm ones too, and given back") {
    PoolFixture f;
    f.options.target = 1;
    f.options.machine_overhead_bytes = 100;
    f.options.capacity.memory_max_bytes = 1500;
    f.make();
    f.fill();
    CHECK(f.pool->status().memory_bytes == 100);
    ClaimRequest request;
    request.memory_limit_bytes = 1000;
    auto machine = run_on(f.loop, f.pool->take(request));
    REQUIRE(machine.has_value());
    f.fill();
    CHECK(f.pool->status().memory_bytes == 1200);
    const auto refused = run_on(f.loop, f.pool->take(request));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::unavailable);
    CHECK(refused.error().cause.find("promised") != std::string::npos);
    machine->reset();
    CHECK(f.pool->status().memory_bytes == 100);
    CHECK(run_on(f.loop, f.pool->take(request)).has_value());
}

TEST_CASE("failed starts back off, open the breaker, and one success closes it") {
    PoolFixture f;
    f.driver->fail_starts = true;
    f.make();
    f.until([&f] { return f.pool->status().breaker_open; });
    CHECK(f.pool->status().warm == 0);
    CHECK(f.pool->status().last_failure.find("QEMU") != std::string::npos);
    const int before = f.driver->starts;
    f.loop.run_for(100ms);
    CHECK(f.driver->starts - before <= 5);  // 40 ms apart, not a busy loop
    CHECK(f.driver->starting_most <= 2);
    f.driver->fail_starts = false;
    f.fill();
    CHECK_FALSE(f.pool->status().breaker_open);
    CHECK(f.pool->status().last_failure.empty());
}

TEST_CASE("a failed warm-up throws the machine away and counts as a failed start") {
    PoolFixture f;
    f.driver->fail_warm_ups = true;
    f.make();
    f.until([&f] { return f.pool->status().start_failures >= 2; });
    CHECK(f.driver->alive.empty());
    CHECK(f.pool->status().warm == 0);
}

TEST_CASE("old machines are replaced") {
    PoolFixture f;
    f.options.age_max = 30ms;
    f.make();
    f.until([&f] { return f.pool->status().expired >= 3; });
    f.fill();
    CHECK(f.driver->alive.size() <= 4);
}

TEST_CASE("a new template replaces what is warm; stopping ends it all") {
    PoolFixture f;
    f.make();
    f.fill();
    const auto old = f.driver->alive;
    f.pool->set_starter([driver = f.driver] { return start_fake(driver); });
    f.fill();
    f.loop.run_for(10ms);
    for (const auto& id : old) CHECK_FALSE(f.driver->alive.contains(id));
    auto stop = [](Pool& pool) -> asio::awaitable<bool> {
        co_await pool.stop();
        co_return true;
    };
    CHECK(run_on(f.loop, stop(*f.pool)));
    f.loop.run_for(10ms);
    CHECK(f.driver->alive.empty());
    CHECK(f.take().error().code == ErrorCode::unavailable);
}

TEST_CASE("dropping the pool drops its warm machines, and starts in flight end") {
    PoolFixture f;
    f.make();
    f.fill();
    auto machine = f.take();
    f.loop.run_one_for(50ms);
    f.pool.reset();
    f.loop.restart();
    f.loop.run_for(50ms);
    CHECK(f.driver->alive.size() == 1);
    CHECK((*machine)->alive());
}

TEST_CASE("the gate lets urgent ones pass first") {
    asio::io_context loop;
    StartGate gate(loop.get_executor(), 1);
    std::string order;
    auto pass = [](StartGate& g, StartGate::Urgency urgency, std::string& out,
                   char name) -> asio::awaitable<void> {
        const auto held = co_await g.enter(urgency);
        co_await pause_for(1ms);
        out += name;
    };
    const auto ignore = [](std::exception_ptr) {};
    asio::co_spawn(loop, pass(gate, StartGate::Urgency::background, order, 'a'), ignore);
    asio::co_spawn(loop, pass(gate, StartGate::Urgency::background, order, 'b'), ignore);
    asio::co_spawn(loop, pass(gate, StartGate::Urgency::urgent, order, 'c'), ignore);
    asio::co_spawn(loop, pass(gate, StartGate::Urgency::urgent, order, 'd'), ignore);
    loop.run();
    CHECK(order == "acdb");
}
