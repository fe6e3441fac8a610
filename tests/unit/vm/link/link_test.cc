#include "vm/link/link.h"

#include <doctest/doctest.h>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "tests/unit/vm/link/harness.h"

namespace cellblock::vm::link::test {
namespace {

Deadline soon() {
    return std::chrono::steady_clock::now() + std::chrono::seconds(10);
}

// Echoes messages until END, then ends too.
awaitable<void> echo(StreamPtr stream) {
    for (;;) {
        auto message = co_await stream->read_message(limits::MiB);
        if (!message || !*message) break;
        const auto written = co_await stream->write_message(**message);
        if (!written) break;
    }
    co_await stream->finish();
}

void serve_echo(Link& link, asio::io_context& context) {
    link.on_stream([&context](StreamPtr stream) {
        asio::co_spawn(context, echo(std::move(stream)), [](std::exception_ptr) {});
    });
}

awaitable<void> ping(StreamPtr stream, int count) {
    for (int i = 0; i < count; ++i) {
        const Bytes sent = pattern(static_cast<std::uint64_t>(i), static_cast<std::size_t>(i) * 13);
        const auto written = co_await stream->write_message(sent);
        REQUIRE(written);
        auto answer = co_await stream->read_message(limits::MiB);
        REQUIRE(answer);
        REQUIRE(*answer);
        REQUIRE(**answer == sent);
    }
    const auto finished = co_await stream->finish();
    REQUIRE(finished);
    auto end = co_await stream->read_message(limits::MiB);
    REQUIRE(end);
    CHECK(!*end);
}

TEST_CASE("messages go both ways and END closes the stream at both ends") {
    TwoEnds ends;
    serve_echo(*ends.guest, ends.context);
    StreamPtr stream = ends.host->open(StreamKind::kernel, R"({"kernel_id":"k"})");
    ends.connect();
    run_to_end(ends.context, ping(stream, 200));
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(30)));
    CHECK(ends.host->stats().streams_open == 0);
    CHECK(ends.guest->stats().streams_open == 0);
    CHECK(ends.host->stats().buffered_bytes == 0);
    CHECK(ends.guest->stats().buffered_bytes == 0);
}

TEST_CASE("what was opened and written before the first connection arrives after it") {
    TwoEnds ends;
    serve_echo(*ends.guest, ends.context);
    StreamPtr stream = ends.host->open(StreamKind::call, "{}");
    CHECK(!ends.host->connected());
    asio::co_spawn(ends.context, ping(stream, 3), [](std::exception_ptr) {});
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(5)));
    ends.connect();
    run_to_end(ends.context, ping(ends.host->open(StreamKind::call, "{}"), 3));
    CHECK(ends.host->connected());
}

awaitable<void> check_wait_connected(TwoEnds& ends) {
    auto early = co_await ends.host->wait_connected(std::chrono::steady_clock::now() +
                                                    std::chrono::milliseconds(10));
    REQUIRE(!early);
    CHECK(early.error().code == ErrorCode::timeout);
    ends.connect();
    auto connected = co_await ends.host->wait_connected(soon());
    CHECK(connected);
    ends.host->close(Error(ErrorCode::sandbox_gone, "killed"));
    auto closed = co_await ends.host->wait_connected(soon());
    REQUIRE(!closed);
    CHECK(closed.error().code == ErrorCode::sandbox_gone);
}

TEST_CASE("wait_connected times out, succeeds, and tells why the link closed") {
    TwoEnds ends;
    run_to_end(ends.context, check_wait_connected(ends));
    CHECK(ends.host->open(StreamKind::call, "{}")->error()->code == ErrorCode::sandbox_gone);
}

awaitable<void> flood(StreamPtr stream) {
    const Bytes block(100'000, std::byte{'x'});
    for (;;) {
        const auto written = co_await stream->write(block);
        if (!written) break;
    }
}

TEST_CASE("a stream that nobody reads does not stop another one") {
    TwoEnds ends;
    StreamPtr unread;
    ends.guest->on_stream([&](StreamPtr stream) {
        if (stream->kind() == StreamKind::tcp) {
            unread = std::move(stream);
        } else {
            asio::co_spawn(ends.context, echo(std::move(stream)), [](std::exception_ptr) {});
        }
    });
    StreamPtr flooded = ends.host->open(StreamKind::tcp, "{}");
    asio::co_spawn(ends.context, flood(flooded), [](std::exception_ptr) {});
    ends.connect();
    run_to_end(ends.context, ping(ends.host->open(StreamKind::kernel, "{}"), 50));
    REQUIRE(unread);
    // One window is all that the flood could put on the wire.
    CHECK(ends.host->stats().bytes_sent < kInitialWindow + 250'000);
    flooded->reset(Error(ErrorCode::cancelled, "enough"));
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(30)));
    REQUIRE(unread->error());
    CHECK(unread->error()->code == ErrorCode::cancelled);
    CHECK(unread->error()->cause == "enough");
}

awaitable<void> read_all(StreamPtr stream, Bytes& all, std::optional<Error>& error) {
    for (;;) {
        auto bytes = co_await stream->read_some();
        if (!bytes) {
            error = bytes.error();
            break;
        }
        if (bytes->empty()) break;
        all.insert(all.end(), bytes->begin(), bytes->end());
    }
}

awaitable<void> write_then_reset(StreamPtr stream) {
    const auto written = co_await stream->write(as_bytes("last words"));
    REQUIRE(written);
    co_await pause_for(std::chrono::milliseconds(20));
    stream->reset(Error(ErrorCode::io, "the disk broke", "buy another"));
    const auto late = co_await stream->write(as_bytes("more"));
    REQUIRE(!late);
    CHECK(late.error().code == ErrorCode::io);
}

TEST_CASE("what arrived before a RESET is read first, then the error with its advice") {
    TwoEnds ends;
    Bytes all;
    std::optional<Error> error;
    StreamPtr received;
    ends.guest->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    ends.connect();
    run_to_end(ends.context, write_then_reset(ends.host->open(StreamKind::tcp, "{}")));
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    REQUIRE(received);
    run_to_end(ends.context, read_all(received, all, error));
    CHECK(as_text(all) == "last words");
    REQUIRE(error);
    CHECK(error->code == ErrorCode::io);
    CHECK(error->cause == "the disk broke");
    CHECK(error->advice == "buy another");
}

awaitable<void> write_finish_and_drop(StreamPtr stream) {
    const Bytes bytes = pattern(7, 200'000);
    const auto written = co_await stream->write(bytes);
    REQUIRE(written);
    const auto finished = co_await stream->finish();
    REQUIRE(finished);
}

TEST_CASE("dropping a stream after finish() still delivers what was written") {
    TwoEnds ends;
    Bytes all;
    std::optional<Error> error;
    StreamPtr received;
    ends.guest->on_stream([&](StreamPtr stream) {
        received = stream;
        asio::co_spawn(ends.context, read_all(std::move(stream), all, error),
                       [](std::exception_ptr) {});
    });
    run_to_end(ends.context, write_finish_and_drop(ends.host->open(StreamKind::tcp, "{}")));
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(60)));
    CHECK(all == pattern(7, 200'000));
    CHECK(!error);
    // The guest's own direction was open: it learns that nobody reads it.
    REQUIRE(received->error());
    CHECK(received->error()->code == ErrorCode::cancelled);
    CHECK(ends.host->stats().streams_open == 0);
    CHECK(ends.guest->stats().streams_open == 0);
}

TEST_CASE("a stream that no handler takes is reset") {
    TwoEnds ends;
    Bytes all;
    std::optional<Error> error;
    ends.connect();
    run_to_end(ends.context, read_all(ends.host->open(StreamKind::tcp, "{}"), all, error));
    REQUIRE(error);
    CHECK(error->code == ErrorCode::not_supported);
}

TEST_CASE("close() fails every waiting operation with its reason, and streams outlive the link") {
    TwoEnds ends;
    StreamPtr received;
    ends.guest->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    StreamPtr stream = ends.host->open(StreamKind::tcp, "{}");
    Bytes all;
    std::optional<Error> error;
    ends.connect();
    asio::co_spawn(ends.context, flood(stream), [](std::exception_ptr) {});
    asio::co_spawn(ends.context, read_all(stream, all, error), [](std::exception_ptr) {});
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    ends.host->close(Error(ErrorCode::sandbox_gone, "the VM died"));
    ends.host.reset();
    ends.host_fd_copy.reset();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    REQUIRE(error);
    CHECK(error->code == ErrorCode::sandbox_gone);
    REQUIRE(ends.host_ended);
    CHECK(ends.host_ended->code == ErrorCode::sandbox_gone);
    stream->reset(Error(ErrorCode::cancelled, "late"));
    run_to_end(ends.context, read_all(stream, all, error));
    CHECK(error->code == ErrorCode::sandbox_gone);
    REQUIRE(ends.guest_ended);
    CHECK(ends.guest_ended->code == ErrorCode::connection_lost);
}

awaitable<void> cancelled_reads(StreamPtr stream) {
    using namespace asio::experimental::awaitable_operators;
    for (int i = 0; i < 5; ++i) {
        // The message's first part has arrived, its second has not.
        auto either =
            co_await (stream->read_message(limits::MiB) || pause_for(std::chrono::milliseconds(5)));
        CHECK(either.index() == 1);
    }
}

awaitable<void> write_text(StreamPtr stream, std::string text) {
    const auto written = co_await stream->write(as_bytes(text));
    REQUIRE(written);
}

awaitable<void> read_one(StreamPtr stream, std::string& text) {
    auto message = co_await stream->read_message(limits::MiB);
    REQUIRE(message);
    REQUIRE(*message);
    text = as_text(**message);
}

TEST_CASE("a cancelled read loses nothing") {
    TwoEnds ends;
    StreamPtr received;
    ends.guest->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    StreamPtr stream = ends.host->open(StreamKind::tcp, "{}");
    ends.connect();
    run_to_end(ends.context, write_text(stream, std::string("\x0a\0\0\0half", 8)));
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    run_to_end(ends.context, cancelled_reads(received));
    run_to_end(ends.context, write_text(stream, std::string(" other\x02\0\0\0ok", 12)));
    std::string text;
    run_to_end(ends.context, read_one(received, text));
    CHECK(text == "half other");
    run_to_end(ends.context, read_one(received, text));
    CHECK(text == "ok");
}

awaitable<void> cancelled_write(StreamPtr stream, std::size_t size) {
    using namespace asio::experimental::awaitable_operators;
    const Bytes bytes(size);
    auto either = co_await (stream->write(bytes) || pause_for(std::chrono::milliseconds(20)));
    CHECK(either.index() == 1);
}

TEST_CASE("a write cancelled before its first byte leaves the stream usable, later it resets it") {
    TwoEnds ends;
    StreamPtr received;
    ends.guest->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    StreamPtr stream = ends.host->open(StreamKind::tcp, "{}");
    ends.connect();
    run_to_end(ends.context, write_text(stream, std::string(kInitialWindow, 'x')));
    run_to_end(ends.context, cancelled_write(stream, 10));
    CHECK(!stream->error());

    StreamPtr other = ends.host->open(StreamKind::tcp, "{}");
    run_to_end(ends.context, cancelled_write(other, kInitialWindow + 1));
    REQUIRE(other->error());
    CHECK(other->error()->code == ErrorCode::cancelled);
}

TEST_CASE("a message over the reader's limit is refused before it is stored") {
    TwoEnds ends;
    StreamPtr received;
    ends.guest->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    StreamPtr stream = ends.host->open(StreamKind::tcp, "{}");
    ends.connect();
    run_to_end(ends.context, write_text(stream, std::string("\xff\xff\xff\xff", 4)));
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    bool refused = false;
    const auto check = [](StreamPtr from, bool& result) -> awaitable<void> {
        auto message = co_await from->read_message(1000);
        result = !message && message.error().code == ErrorCode::too_large;
    };
    run_to_end(ends.context, check(received, refused));
    CHECK(refused);
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    REQUIRE(stream->error());
    CHECK(stream->error()->code == ErrorCode::too_large);
}

awaitable<void> write_numbers(StreamPtr stream, char who, int count) {
    for (int i = 0; i < count; ++i) {
        const std::string text(static_cast<std::size_t>(i % 50) * 4000 + 1, who);
        const auto written = co_await stream->write_message(as_bytes(text));
        REQUIRE(written);
    }
}

awaitable<void> check_unmixed(StreamPtr stream, int count, int& seen) {
    while (seen < count) {
        auto message = co_await stream->read_message(limits::MiB);
        REQUIRE(message);
        REQUIRE(*message);
        const std::string_view text = as_text(**message);
        CHECK(text.find_first_not_of(text[0]) == std::string_view::npos);
        ++seen;
    }
}

TEST_CASE("messages of several writers on one stream never mix") {
    TwoEnds ends;
    StreamPtr received;
    ends.guest->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    StreamPtr stream = ends.host->open(StreamKind::tcp, "{}");
    for (const char who : {'a', 'b', 'c', 'd'}) {
        asio::co_spawn(ends.context, write_numbers(stream, who, 60), [](std::exception_ptr) {});
    }
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    REQUIRE(received);
    int seen = 0;
    run_to_end(ends.context, check_unmixed(received, 240, seen));
    CHECK(seen == 240);
}

TEST_CASE("too many streams are refused locally, and are a violation from the peer") {
    LinkOptions few;
    few.peer_streams_max = 3;
    TwoEnds ends(std::move(few), LinkOptions());
    std::vector<StreamPtr> kept;
    std::vector<StreamPtr> opened;
    ends.host->on_stream([&](StreamPtr stream) { kept.push_back(std::move(stream)); });
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    for (int i = 0; i < 4; ++i) opened.push_back(ends.guest->open(StreamKind::tcp, "{}"));
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    REQUIRE(ends.host->closed());
    CHECK(ends.host->error()->code == ErrorCode::guest_protocol);
    CHECK(ends.host->error()->cause.find("more than 3 streams") != std::string::npos);

    for (std::size_t i = opened.size(); i < limits::link_streams_max; ++i) {
        opened.push_back(ends.guest->open(StreamKind::tcp, "{}"));
        REQUIRE(!opened.back()->error());
    }
    CHECK(ends.guest->open(StreamKind::tcp, "{}")->error()->code == ErrorCode::too_many);
}

}  // namespace
}  // namespace cellblock::vm::link::test
