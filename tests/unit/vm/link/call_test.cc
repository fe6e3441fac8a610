#include "vm/link/call.h"

#include <doctest/doctest.h>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "tests/unit/vm/link/harness.h"

namespace cellblock::vm::link::test {
namespace {

using std::chrono::milliseconds;

awaitable<Result<Json>> add(Json params) {
    Json result;
    result["sum"] = params.value("a", 0) + params.value("b", 0);
    co_return result;
}
awaitable<Result<Json>> refuse(Json) {
    co_return fail(ErrorCode::conflict, "it is running", "stop it first");
}
awaitable<Result<Json>> throw_up(Json) {
    throw std::runtime_error("boom");
    co_return Json::object();
}
awaitable<Result<Json>> sleep_long(Json) {
    co_await pause_for(milliseconds(300));
    co_return Json::object();
}
awaitable<Result<Json>> too_much(Json) {
    Json result;
    result["text"] = std::string(limits::link_call_max_bytes, 'x');
    co_return result;
}

struct Calls : TwoEnds {
    CallServer server{context.get_executor()};
    Calls() {
        server.add("add", add);
        server.add("refuse", refuse);
        server.add("throw_up", throw_up);
        server.add("sleep_long", sleep_long);
        server.add("too_much", too_much);
        guest->on_stream([this](StreamPtr stream) { server.serve(std::move(stream)); });
    }
    Result<Json> call_now(std::string method, Json params, milliseconds timeout) {
        Result<Json> answer = fail(ErrorCode::internal, "no answer");
        run_to_end(context,
                   keep(call(*host, std::move(method), std::move(params), timeout), answer));
        return answer;
    }
    static awaitable<void> keep(awaitable<Result<Json>> from, Result<Json>& to) {
        to = co_await std::move(from);
    }
};

TEST_CASE("a call brings back its result or its error with the advice") {
    Calls ends;
    ends.connect();
    const auto sum = ends.call_now("add", {{"a", 2}, {"b", 40}}, milliseconds(5000));
    REQUIRE(sum);
    CHECK((*sum)["sum"] == 42);
    CHECK(ends.call_now("add", nullptr, milliseconds(5000)));

    const auto refused = ends.call_now("refuse", Json::object(), milliseconds(5000));
    REQUIRE(!refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK(refused.error().cause == "it is running");
    CHECK(refused.error().advice == "stop it first");

    CHECK(ends.call_now("nothing", {}, milliseconds(5000)).error().code ==
          ErrorCode::not_supported);
    CHECK(ends.call_now("throw_up", {}, milliseconds(5000)).error().code == ErrorCode::internal);
    CHECK(ends.call_now("too_much", {}, milliseconds(5000)).error().code == ErrorCode::too_large);
    run_to_end(ends.context, pause_for(milliseconds(30)));
    CHECK(ends.host->stats().streams_open == 0);
    CHECK(ends.guest->stats().streams_open == 0);
}

TEST_CASE("a call's timeout covers a missing connection and a slow handler") {
    Calls ends;
    CHECK(ends.call_now("add", {}, milliseconds(20)).error().code == ErrorCode::timeout);
    ends.connect();
    CHECK(ends.call_now("sleep_long", {}, milliseconds(50)).error().code == ErrorCode::timeout);
    CHECK(ends.call_now("add", {}, milliseconds(5000)));
    run_to_end(ends.context, pause_for(milliseconds(400)));
    CHECK(ends.guest->stats().streams_open == 0);
}

awaitable<void> cancel_a_call(Link& host) {
    using namespace asio::experimental::awaitable_operators;
    auto either = co_await (call(host, "sleep_long", Json::object(), milliseconds(5000)) ||
                            pause_for(milliseconds(20)));
    CHECK(either.index() == 1);
}

TEST_CASE("a cancelled call drops its stream") {
    Calls ends;
    ends.connect();
    run_to_end(ends.context, cancel_a_call(*ends.host));
    run_to_end(ends.context, pause_for(milliseconds(20)));
    CHECK(ends.host->stats().streams_open == 0);
    CHECK(ends.guest->stats().streams_open == 0);
}

TEST_CASE("a call fails with what closed the link") {
    Calls ends;
    ends.connect();
    ends.host->close(Error(ErrorCode::sandbox_gone, "killed"));
    CHECK(ends.call_now("add", {}, milliseconds(5000)).error().code == ErrorCode::sandbox_gone);
}

awaitable<void> answer_with(StreamPtr stream, std::string text) {
    const auto written = co_await stream->write_message(as_bytes(text));
    if (written) co_await stream->finish();
}

TEST_CASE("replies that are not what the protocol says are guest_protocol") {
    for (const char* text :
         {"", "nonsense", "[]", "{}", "{\"result\":3}", "{\"error\":\"x\"}", "{\"result\":"}) {
        CAPTURE(text);
        Calls ends;
        ends.guest->on_stream([&](StreamPtr stream) {
            asio::co_spawn(ends.context, answer_with(std::move(stream), text),
                           [](std::exception_ptr) {});
        });
        ends.connect();
        CHECK(ends.call_now("add", {}, milliseconds(5000)).error().code ==
              ErrorCode::guest_protocol);
    }
}

}  // namespace
}  // namespace cellblock::vm::link::test
