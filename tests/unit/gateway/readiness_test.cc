#include "gateway/http/readiness.h"

#include <doctest/doctest.h>

#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

using namespace cellblock;
using namespace cellblock::gateway::http;
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

using Outcome = std::optional<Result<void>>;

void wait_for(asio::io_context& loop, Readiness& readiness, Outcome& out) {
    asio::co_spawn(loop, readiness.wait(), [&out](std::exception_ptr thrown, Result<void> result) {
        REQUIRE_FALSE(thrown);
        out = std::move(result);
    });
}

Error refusal_in(const Outcome& out) {
    REQUIRE(out.has_value());
    REQUIRE_FALSE(out->has_value());
    return out->error();
}

}  // namespace

TEST_CASE("a request that comes early goes on when all is ready, and a later one at once") {
    asio::io_context loop;
    Readiness readiness(loop.get_executor(), 1h);
    Outcome early;
    wait_for(loop, readiness, early);
    loop.poll();
    CHECK_FALSE(early.has_value());
    readiness.ready();
    loop.restart();
    loop.run();
    REQUIRE(early.has_value());
    CHECK(early->has_value());
    Outcome late;
    wait_for(loop, readiness, late);
    loop.restart();
    loop.run();
    REQUIRE(late.has_value());
    CHECK(late->has_value());
}

TEST_CASE("a request that waited for as long as it may is told what is being done") {
    asio::io_context loop;
    Readiness readiness(loop.get_executor(), 0ms);
    readiness.doing("building the template: starting a kernel");
    Outcome out;
    wait_for(loop, readiness, out);
    loop.run();
    const Error refusal = refusal_in(out);
    CHECK(refusal.code == ErrorCode::unavailable);
    CHECK(refusal.cause ==
          "the gateway is not ready yet: it has been starting for 0 s and is building the "
          "template: starting a kernel");
}

TEST_CASE("those that wait for a gateway that stops are refused at once") {
    asio::io_context loop;
    Readiness readiness(loop.get_executor(), 1h);
    Outcome out;
    wait_for(loop, readiness, out);
    loop.poll();
    readiness.give_up();
    loop.restart();
    loop.run();
    CHECK(refusal_in(out).cause == "the gateway is stopping");
}

TEST_CASE("a gateway that is ready stays so") {
    asio::io_context loop;
    Readiness readiness(loop.get_executor(), 1h);
    readiness.ready();
    readiness.give_up();
    CHECK(readiness.is_ready());
}
