#include "vm/qemu/guest_clock.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "vm/link/call.h"

namespace cellblock::vm {

namespace asio = boost::asio;

namespace {

struct Sample {
    std::int64_t ahead_ns = 0;   // the guest's clock minus the host's
    std::int64_t unsure_ns = 0;  // the true difference is within so much of it
};

asio::awaitable<Result<std::int64_t>> call_clock(link::Link& link, std::int64_t step_by_ns) {
    Json parameters = {{"step_by_ns", step_by_ns}};
    auto reply =
        co_await link::call(link, "clock", std::move(parameters), limits::guest_clock_timeout);
    if (!reply) co_return fail(reply.error());
    co_return required_integer(*reply, "guest_ns");
}

asio::awaitable<Result<Sample>> ask(link::Link& link) {
    const auto begun = std::chrono::steady_clock::now();
    const std::int64_t host_ns = wall_clock_ns();
    const auto guest_ns = co_await call_clock(link, 0);
    if (!guest_ns) co_return fail(guest_ns.error());
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begun;
    Sample sample;
    sample.unsure_ns = took.count() / 2;
    sample.ahead_ns = *guest_ns - (host_ns + sample.unsure_ns);
    co_return sample;
}

}  // namespace

asio::awaitable<Result<void>> settle_guest_clock(link::Link& link) {
    std::optional<Sample> best;
    for (int asked = 0; asked < limits::guest_clock_questions_max; ++asked) {
        const auto sample = co_await ask(link);
        if (!sample) co_return fail(sample.error().in("asking for the guest's time"));
        if (!best || sample->unsure_ns < best->unsure_ns) best = *sample;
        if (best->unsure_ns <= limits::guest_clock_good_enough.count()) break;
    }
    if (std::abs(best->ahead_ns) <= best->unsure_ns) co_return Result<void>();
    const auto moved = co_await call_clock(link, -best->ahead_ns);
    if (!moved) co_return fail(moved.error().in("setting the guest's time"));
    co_return Result<void>();
}

}  // namespace cellblock::vm
