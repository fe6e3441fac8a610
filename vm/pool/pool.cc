#include "vm/pool/pool.h"

#include <algorithm>
#include <list>
#include <optional>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "vm/pool/counted_machine.h"
#include "vm/pool/start_gate.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

// What a start could not find or may not do is the host's matter: the caller asked for nothing
// wrong, and "not found" would say that its sandbox is not there.
Error of_the_host(Error error) {
    switch (error.code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::unauthorized:
        case ErrorCode::forbidden:
        case ErrorCode::not_found:
            error.code = ErrorCode::io;
            break;
        default:
            break;
    }
    return error;
}

// 0.75 to 1.25 of `time`.
std::chrono::milliseconds jittered(std::chrono::milliseconds time) {
    std::uint16_t random = 0;
    fill_random(&random, sizeof random);
    return time * 3 / 4 + time * random / 65536 / 2;
}

struct WarmMachine {
    std::unique_ptr<CountedMachine> machine;
    Deadline expires_at;

    WarmMachine() = default;
};

}  // namespace

struct Pool::State {
    asio::any_io_executor executor;
    MachineStarter starter;
    WarmUp warm_up;
    PoolOptions options;
    StartGate gate;
    asio::steady_timer wake;  // the refill loop sleeps on it
    std::list<WarmMachine> warm;
    std::shared_ptr<Capacity> capacity;
    std::size_t refilling = 0;  // background starts
    std::size_t cold_starting = 0;
    Condition start_ended;  // one of the two went down
    std::size_t failures_in_a_row = 0;
    std::uint64_t generation = 0;  // of the starter
    Deadline retry_at;
    bool running = false;
    bool stopped = false;
    PoolStatus counts;

    State(asio::any_io_executor executor_, MachineStarter starter_, WarmUp warm_up_,
          PoolOptions options_)
        : executor(executor_),
          starter(std::move(starter_)),
          warm_up(std::move(warm_up_)),
          options(options_),
          gate(executor_, std::max<std::size_t>(options_.concurrent_starts, 1)),
          wake(executor_),
          capacity(std::make_shared<Capacity>(executor_, options_.capacity)),
          start_ended(executor_) {}

    void stir() { wake.cancel(); }

    void started(bool success, const std::string& why) {
        if (success) {
            failures_in_a_row = 0;
            counts.last_failure.clear();
            return;
        }
        ++failures_in_a_row;
        ++counts.start_failures;
        counts.last_failure = why;
        const std::size_t doublings = std::min<std::size_t>(failures_in_a_row - 1, 16);
        const auto wait = std::min(options.backoff_max, options.backoff_min * (1L << doublings));
        retry_at = std::chrono::steady_clock::now() + jittered(wait);
        log::warning("pool_start_failed",
                     {{"why", why}, {"in_a_row", failures_in_a_row}, {"retry_ms", wait.count()}});
    }

    std::unique_ptr<CountedMachine> pop_warm() {
        if (warm.empty()) return nullptr;
        auto machine = std::move(warm.front().machine);  // the oldest: ages stay low
        warm.pop_front();
        return machine;
    }

    using Self = std::shared_ptr<State>;
    static asio::awaitable<Result<std::unique_ptr<CountedMachine>>> start_one(
        Self self, Slot slot, StartGate::Urgency urgency, MachineStarter start);
    // What one machine takes of the capacity, before it is anybody's.
    Share machine_share() const { return Share{1, options.machine_overhead_bytes}; }
    // Waits for room; a refusal is counted.
    static asio::awaitable<Result<Slot>> reserve(Self self, Share share);
    // As reserve(), for a machine; `memory`, its sandbox's, becomes part of it.
    static asio::awaitable<Result<Slot>> reserve_machine(Self self, Slot memory);
    static asio::awaitable<Result<std::unique_ptr<Machine>>> start_urgently(
        Self self, MachineStarter start, Slot slot, std::optional<ClaimRequest> request);
    static asio::awaitable<void> refill_one(Self self, Slot slot);
    static asio::awaitable<void> refill(Self self);
    static asio::awaitable<void> end(std::unique_ptr<Machine> machine, std::string why);
    static void drop_expired(Self self);
    static asio::awaitable<std::unique_ptr<CountedMachine>> take_warm(Self self,
                                                                      ClaimRequest request);
};

asio::awaitable<Result<std::unique_ptr<CountedMachine>>> Pool::State::start_one(
    Self self, Slot slot, StartGate::Urgency urgency, MachineStarter start) {
    const auto pass = co_await self->gate.enter(urgency);
    auto machine = co_await start();
    if (!machine) co_return fail(machine.error());
    co_return std::make_unique<CountedMachine>(std::move(*machine), std::move(slot));
}

asio::awaitable<void> Pool::State::end(std::unique_ptr<Machine> machine, std::string why) {
    co_await machine->kill(std::move(why));
}

asio::awaitable<void> Pool::State::refill_one(Self self, Slot slot) {
    const std::uint64_t generation = self->generation;
    auto machine =
        co_await start_one(self, std::move(slot), StartGate::Urgency::background, self->starter);
    if (machine && self->warm_up) {
        auto warmed = co_await self->warm_up(**machine);
        if (!warmed) {
            co_await (*machine)->kill("its warm-up failed");
            machine = fail(warmed.error().in("warming up a machine"));
        }
    }
    self->started(machine.has_value(), machine ? std::string() : machine.error().text());
    const bool wanted = !self->stopped && generation == self->generation;
    if (machine && !wanted) co_await (*machine)->kill("the pool does not need it any more");
    --self->refilling;  // after the kill: stop() waits for it
    self->start_ended.notify_all();
    if (!wanted) {
        self->stir();
        co_return;
    }
    if (machine && (*machine)->alive()) {
        WarmMachine entry;
        entry.machine = std::move(*machine);
        entry.expires_at = std::chrono::steady_clock::now() + jittered(self->options.age_max);
        const Machine* which = entry.machine.get();
        entry.machine->on_exit([weak = std::weak_ptr<State>(self), which](const ExitInfo&) {
            const auto state = weak.lock();
            if (!state) return;
            const auto found =
                std::find_if(state->warm.begin(), state->warm.end(),
                             [which](const auto& item) { return item.machine.get() == which; });
            if (found == state->warm.end()) return;  // taken meanwhile: its owner hears of it
            // Not destroyed under its own handler's feet.
            asio::post(state->executor,
                       [gone = std::shared_ptr<Machine>(std::move(found->machine))] {});
            state->warm.erase(found);
            state->stir();
        });
        self->warm.push_back(std::move(entry));
    }
    self->stir();
}

void Pool::State::drop_expired(Self self) {
    const Deadline now = std::chrono::steady_clock::now();
    for (auto entry = self->warm.begin(); entry != self->warm.end();) {
        const bool surplus = self->warm.size() > self->options.target;
        if (!surplus && entry->expires_at > now) {
            ++entry;
            continue;
        }
        if (!surplus) ++self->counts.expired;
        spawn_logged(self->executor, end(std::move(entry->machine), "it was warm for too long"),
                     "pool_end", nullptr);
        entry = self->warm.erase(entry);
    }
}

asio::awaitable<void> Pool::State::refill(Self self) {
    while (!self->stopped) {
        drop_expired(self);
        Deadline next = std::chrono::steady_clock::now() + std::chrono::hours(1);
        for (const auto& entry : self->warm) next = std::min(next, entry.expires_at);
        const Deadline now = std::chrono::steady_clock::now();
        // After a failure one start at a time shows whether it works again.
        const std::size_t at_once =
            self->failures_in_a_row > 0 ? 1 : self->options.concurrent_starts;
        while (self->warm.size() + self->refilling < self->options.target &&
               self->refilling < at_once) {
            if (now < self->retry_at) {
                next = std::min(next, self->retry_at);
                break;
            }
            auto slot = self->capacity->try_reserve(self->machine_share());
            if (!slot) {
                next = std::min(next, now + self->options.backoff_max);
                break;
            }
            ++self->refilling;
            spawn_logged(self->executor, refill_one(self, std::move(*slot)), "pool_refill",
                         nullptr);
        }
        self->wake.expires_at(next);
        co_await self->wake.async_wait(as_tuple_awaitable);
    }
    self->running = false;
}

asio::awaitable<Result<Slot>> Pool::State::reserve(Self self, Share share) {
    auto slot = co_await self->capacity->reserve(share);
    if (!slot) ++self->counts.refused;
    co_return std::move(slot);
}

asio::awaitable<Result<Slot>> Pool::State::reserve_machine(Self self, Slot memory) {
    if (self->gate.waiting_urgent() >= self->options.waiting_takes_max) {
        ++self->counts.refused;
        co_return fail(ErrorCode::too_many, "too many machines wait to be started",
                       "try again in some seconds");
    }
    CB_CO_TRY_ASSIGN(slot, co_await reserve(self, self->machine_share()));
    if (self->stopped) co_return fail(ErrorCode::unavailable, "the gateway is stopping");
    slot.absorb(std::move(memory));
    co_return std::move(slot);
}

asio::awaitable<Result<std::unique_ptr<Machine>>> Pool::State::start_urgently(
    Self self, MachineStarter start, Slot slot, std::optional<ClaimRequest> request) {
    ++self->cold_starting;
    auto machine =
        co_await start_one(self, std::move(slot), StartGate::Urgency::urgent, std::move(start));
    Result<void> claimed;
    if (machine && request) claimed = co_await (*machine)->claim(std::move(*request));
    --self->cold_starting;
    self->start_ended.notify_all();
    if (!machine) {
        ++self->counts.start_failures;
        self->counts.last_failure = machine.error().text();
        co_return fail(of_the_host(machine.error()).in("starting a machine"));
    }
    if (!claimed) co_return fail(claimed.error());
    co_return std::move(*machine);
}

Pool::Pool(asio::any_io_executor executor, MachineStarter start, WarmUp warm_up,
           PoolOptions options)
    : state_(std::make_shared<State>(std::move(executor), std::move(start), std::move(warm_up),
                                     options)) {}

Pool::~Pool() {
    state_->stopped = true;
    state_->stir();
    state_->warm.clear();
}

void Pool::start() {
    if (state_->running || state_->stopped) return;
    state_->running = true;
    spawn_logged(state_->executor, State::refill(state_), "pool_refill", nullptr);
}

// A warm machine that answers and could be claimed, or none.
asio::awaitable<std::unique_ptr<CountedMachine>> Pool::State::take_warm(Self self,
                                                                        ClaimRequest request) {
    while (auto machine = self->pop_warm()) {
        self->stir();
        auto checked = co_await machine->check(self->options.check_timeout);
        if (checked) {
            auto claimed = co_await machine->claim(request);
            if (claimed) co_return std::move(machine);
            checked = fail(claimed.error());
        }
        ++self->counts.check_failures;
        log::warning("pool_machine_unfit",
                     {{"id", machine->id()}, {"why", checked.error().text()}});
        co_await machine->kill("it did not answer when it was to be handed out");
    }
    co_return nullptr;
}

asio::awaitable<Result<std::unique_ptr<Machine>>> Pool::take(ClaimRequest request) {
    const auto state = state_;
    if (state->stopped) co_return fail(ErrorCode::unavailable, "the gateway is stopping");
    const Share promised{0, request.memory_limit_bytes};
    CB_CO_TRY_ASSIGN(memory, co_await State::reserve(state, promised));
    auto warm = co_await State::take_warm(state, request);
    if (warm) {
        ++state->counts.hits;
        warm->absorb(std::move(memory));
        co_return std::move(warm);
    }
    ++state->counts.misses;
    CB_CO_TRY_ASSIGN(slot, co_await State::reserve_machine(state, std::move(memory)));
    co_return co_await State::start_urgently(state, state->starter, std::move(slot),
                                             std::move(request));
}

asio::awaitable<Result<std::unique_ptr<Machine>>> Pool::start_other(
    MachineStarter start, std::uint64_t memory_limit_bytes) {
    const auto state = state_;
    if (state->stopped) co_return fail(ErrorCode::unavailable, "the gateway is stopping");
    const Share promised{0, memory_limit_bytes};
    CB_CO_TRY_ASSIGN(memory, co_await State::reserve(state, promised));
    CB_CO_TRY_ASSIGN(slot, co_await State::reserve_machine(state, std::move(memory)));
    co_return co_await State::start_urgently(state, std::move(start), std::move(slot),
                                             std::nullopt);
}

asio::awaitable<Result<std::unique_ptr<Machine>>> Pool::take_over(
    MachineStarter start, std::uint64_t memory_limit_bytes) {
    Share share = state_->machine_share();
    share.memory_bytes += memory_limit_bytes;
    return State::start_urgently(state_, std::move(start), state_->capacity->count(share),
                                 std::nullopt);
}

asio::awaitable<void> Pool::stop() {
    const auto state = state_;
    state->stopped = true;
    state->stir();
    // A machine that is being started would outlive us: wait until whoever starts it has it in
    // hand.
    while (state->refilling + state->cold_starting > 0) co_await state->start_ended.wait();
    while (auto machine = state->pop_warm()) {
        co_await machine->kill("the pool was stopped");
    }
}

void Pool::set_target(std::size_t target) {
    state_->options.target = target;
    state_->stir();
}

void Pool::set_starter(MachineStarter start) {
    state_->starter = std::move(start);
    ++state_->generation;
    for (auto& entry : state_->warm) {
        spawn_logged(state_->executor,
                     State::end(std::move(entry.machine), "its template was replaced"), "pool_end",
                     nullptr);
    }
    state_->warm.clear();
    state_->stir();
}

PoolStatus Pool::status() const {
    PoolStatus status = state_->counts;
    status.target = state_->options.target;
    const Capacity& capacity = *state_->capacity;
    status.machines_max = capacity.options().machines_max;
    status.memory_bytes = capacity.used().memory_bytes;
    status.memory_max_bytes = capacity.options().memory_max_bytes;
    status.waiting = capacity.waiting();
    status.warm = state_->warm.size();
    status.starting = state_->refilling + state_->cold_starting;
    const std::size_t known = status.warm + status.starting;
    const std::size_t machines = capacity.used().machines;
    status.taken = machines > known ? machines - known : 0;
    status.breaker_open = state_->failures_in_a_row >= state_->options.breaker_failures;
    return status;
}

}  // namespace cellblock::vm
