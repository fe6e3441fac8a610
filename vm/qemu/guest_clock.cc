#include "vm/qemu/guest_clock.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "vm/link/call.h"

namespace cellblock::vm {

namespace asio = boost::asio;

namespace {

// An hour before the end of time, in 2262: Linux takes no later one, and differences fit in 64
// bits.
constexpr std::int64_t latest_guest_ns =
    std::numeric_limits<std::int64_t>::max() - 3'600'000'000'000;

// The guest read its clock somewhere between a question and its answer: so each bounds how far that
// clock is ahead of ours, and all together bound it far better than the quickest alone, after
// which a child was once 57 ms wrong on a busy host. Marzullo's algorithm, as NTP has it.
struct Bounds {
    std::int64_t least_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t most_ns = std::numeric_limits<std::int64_t>::max();

    std::int64_t middle_ns() const { return least_ns + (most_ns - least_ns) / 2; }
    std::int64_t unsure_ns() const { return std::abs(most_ns - least_ns) / 2; }
};

asio::awaitable<Result<std::int64_t>> call_clock(link::Link& link, std::int64_t step_by_ns) {
    Json parameters = {{"step_by_ns", step_by_ns}};
    auto reply =
        co_await link::call(link, "clock", std::move(parameters), limits::guest_clock_timeout);
    if (!reply) co_return fail(reply.error());
    CB_CO_TRY_ASSIGN(guest_ns, required_integer(*reply, "guest_ns"));
    // A guest may answer anything.
    if (guest_ns < 0 || guest_ns > latest_guest_ns) {
        co_return fail(ErrorCode::guest_protocol, "the guest's time is out of range");
    }
    co_return guest_ns;
}

asio::awaitable<Result<void>> ask(link::Link& link, Bounds& ahead) {
    const auto begun = std::chrono::steady_clock::now();
    const std::int64_t host_ns = wall_clock_ns();
    const auto guest_ns = co_await call_clock(link, 0);
    if (!guest_ns) co_return fail(guest_ns.error());
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begun;
    ahead.least_ns = std::max<std::int64_t>(ahead.least_ns, *guest_ns - (host_ns + took.count()));
    ahead.most_ns = std::min<std::int64_t>(ahead.most_ns, *guest_ns - host_ns);
    co_return Result<void>();
}

}  // namespace

asio::awaitable<Result<void>> settle_guest_clock(link::Link& link) {
    const std::int64_t good_enough_ns = limits::guest_clock_good_enough.count();
    Bounds ahead;
    for (int asked = 0; asked < limits::guest_clock_questions_max; ++asked) {
        const auto answered = co_await ask(link, ahead);
        if (!answered) co_return fail(answered.error().in("asking for the guest's time"));
        if (ahead.unsure_ns() <= good_enough_ns) break;
    }
    if (std::abs(ahead.middle_ns()) <= good_enough_ns) co_return Result<void>();
    const auto moved = co_await call_clock(link, -ahead.middle_ns());
    if (!moved) co_return fail(moved.error().in("setting the guest's time"));
    co_return Result<void>();
}

}  // namespace cellblock::vm
