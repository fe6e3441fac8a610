// Connections that break: no byte is lost, doubled or out of order, wherever the wire is cut.
#include <cstdlib>

#include <doctest/doctest.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/write.hpp>

#include "base/awaitable.h"
#include "tests/unit/vm/link/harness.h"
#include "vm/link/codec.h"

namespace cellblock::vm::link::test {
namespace {

using asio::posix::stream_descriptor;

// When the guest learns that the host's end went away.
enum class GuestSees { nothing, end_at_once, end_late };

// A virtio-serial port as QEMU runs it: what is in flight is lost when the host's end goes.
struct Wire {
    TwoEnds& ends;
    std::mt19937 random;
    GuestSees guest_sees;
    std::optional<stream_descriptor> guest_side;
    int cuts = 0;

    Wire(TwoEnds& ends_, unsigned seed, GuestSees guest_sees_)
        : ends(ends_), random(seed), guest_sees(guest_sees_) {}

    void start_guest() {
        SocketPair pair;
        guest_side.emplace(ends.context, pair.second.release());
        ends.start(*ends.guest, std::move(pair.first), ends.guest_ended);
    }
    std::size_t next_budget() {
        switch (random() % 8) {
            case 0:
                return random() % 300;  // in the padding
            case 1:
                return kPaddingBytes - 50 + random() % 400;  // around the greetings
            case 2:
            case 3:
                return kPaddingBytes + random() % 20'000;
            default:
                return kPaddingBytes + random() % 600'000;
        }
    }
};

awaitable<void> pump(stream_descriptor& from, stream_descriptor& to, std::size_t& budget,
                     std::mt19937& random) {
    std::array<char, 65536> buffer;
    while (budget > 0) {
        const std::size_t want = random() % buffer.size() + 1;
        const auto [error, count] =
            co_await from.async_read_some(asio::buffer(buffer.data(), want), as_tuple_awaitable);
        if (error) co_return;
        const std::size_t forward = std::min(count, budget);  // the rest was in flight: lost
        budget -= forward;
        const auto [failed, ignored] = co_await asio::async_write(
            to, asio::buffer(buffer.data(), forward), as_tuple_awaitable);
        if (failed) co_return;
    }
}

awaitable<void> relay(Wire& wire, int cuts) {
    using namespace asio::experimental::awaitable_operators;
    wire.start_guest();
    for (;;) {
        SocketPair pair;
        stream_descriptor host_side(wire.ends.context, pair.second.release());
        wire.ends.host_ended.reset();
        wire.ends.start(*wire.ends.host, std::move(pair.first), wire.ends.host_ended);
        if (wire.guest_sees == GuestSees::end_late && wire.ends.guest_ended) wire.start_guest();
        std::size_t budget = wire.cuts < cuts ? wire.next_budget() : SIZE_MAX;
        co_await (pump(host_side, *wire.guest_side, budget, wire.random) ||
                  pump(*wire.guest_side, host_side, budget, wire.random));
        ++wire.cuts;
        host_side.close();
        if (wire.guest_sees != GuestSees::nothing) wire.guest_side->close();
        if (wire.guest_sees == GuestSees::end_at_once) {
            while (!wire.ends.guest_ended) co_await pause_for(std::chrono::milliseconds(1));
            wire.ends.guest_ended.reset();
            wire.start_guest();
        }
        while (!wire.ends.host_ended) co_await pause_for(std::chrono::milliseconds(1));
        if (wire.ends.host->closed()) co_return;
        CHECK(wire.ends.host_ended->code == ErrorCode::connection_lost);
        if (wire.guest_sees == GuestSees::end_late) {
            while (!wire.ends.guest_ended) co_await pause_for(std::chrono::milliseconds(1));
        }
    }
}

// --- traffic that checks itself ------------------------------------------------------------------

constexpr int kMessages = 40;
constexpr std::size_t kRawBytes = 400'000;

Bytes message_of(std::uint64_t seed, int index) {
    std::mt19937 random(static_cast<unsigned>(seed * 1000 + static_cast<unsigned>(index)));
    switch (random() % 8) {
        case 0:
            return {};
        case 1:
            return pattern(random(), random() % 150'000);
        case 2: {
            // What a decoder in the wrong place would take for a greeting or a frame.
            Bytes bytes(random() % 1000);
            Hello hello;
            hello.nonce.fill(static_cast<std::byte>(random()));
            for (const FrameType type : {FrameType::hello, FrameType::hello_reply}) {
                const Bytes frame = encode_hello(type, hello);
                bytes.insert(bytes.end(), frame.begin(), frame.end());
            }
            const Bytes frame = encode_frame(FrameType::reset, 1, {});
            bytes.insert(bytes.end(), frame.begin(), frame.end());
            return bytes;
        }
        default:
            return pattern(random(), random() % 2000);
    }
}

awaitable<void> write_side(StreamPtr stream, std::uint64_t seed) {
    for (int i = 0; i < kMessages; ++i) {
        const Bytes message = message_of(seed, i);
        const auto written = co_await stream->write_message(message);
        REQUIRE(written);
    }
    const Bytes raw = pattern(seed, kRawBytes);
    for (std::size_t at = 0; at < kRawBytes;) {
        const std::size_t count =
            std::min<std::size_t>(kRawBytes - at, 1 + (at * 7 + seed) % 90'000);
        const auto written = co_await stream->write(ByteView(raw).subspan(at, count));
        REQUIRE(written);
        at += count;
    }
    const auto finished = co_await stream->finish();
    REQUIRE(finished);
}

awaitable<void> read_side(StreamPtr stream, std::uint64_t seed) {
    for (int i = 0; i < kMessages; ++i) {
        auto message = co_await stream->read_message(limits::MiB);
        REQUIRE(message);
        REQUIRE(*message);
        const bool same = **message == message_of(seed, i);
        REQUIRE(same);
    }
    Bytes raw;
    for (;;) {
        auto bytes = co_await stream->read_some();
        REQUIRE(bytes);
        if (bytes->empty()) break;
        raw.insert(raw.end(), bytes->begin(), bytes->end());
    }
    const bool same = raw == pattern(seed, kRawBytes);
    REQUIRE(same);
}

awaitable<void> both_sides(StreamPtr stream, std::uint64_t write_seed, std::uint64_t read_seed) {
    using namespace asio::experimental::awaitable_operators;
    co_await (write_side(stream, write_seed) && read_side(stream, read_seed));
}

// The opener's direction has the seed, the other one the seed + 1'000'000.
awaitable<void> open_in_turn(Link& link, std::uint64_t first_seed, int streams, int& done) {
    for (int i = 0; i < streams; ++i) {
        const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
        co_await both_sides(link.open(StreamKind::tcp, std::to_string(seed)), seed,
                            seed + 1'000'000);
        ++done;
    }
}

void answer_streams(Link& link, asio::io_context& context, int& done) {
    link.on_stream([&context, &done](StreamPtr stream) {
        const std::uint64_t seed = std::stoull(stream->params());
        asio::co_spawn(context, both_sides(std::move(stream), seed + 1'000'000, seed),
                       [&done](std::exception_ptr failure) {
                           CHECK(!failure);
                           ++done;
                       });
    });
}

awaitable<void> wait_for(int& done, int count) {
    while (done < count) co_await pause_for(std::chrono::milliseconds(5));
}

void run_property(unsigned seed, GuestSees guest_sees, int cuts) {
    constexpr int kSlots = 4;
    constexpr int kRounds = 2;
    CAPTURE(seed);
    TwoEnds ends;
    Wire wire(ends, seed, guest_sees);
    int done = 0;
    answer_streams(*ends.host, ends.context, done);
    answer_streams(*ends.guest, ends.context, done);
    const auto check = [](std::exception_ptr failure) { CHECK(!failure); };
    for (int slot = 0; slot < kSlots; ++slot) {
        const auto at = static_cast<std::uint64_t>(slot) * 100 + seed * 10'000ULL;
        asio::co_spawn(ends.context, open_in_turn(*ends.host, at, kRounds, done), check);
    }
    int relays_done = 0;
    asio::co_spawn(ends.context, relay(wire, cuts), [&](std::exception_ptr failure) {
        CHECK(!failure);
        ++relays_done;
    });
    // The guest may open once the session has begun.
    ends.guest->on_new_session([&] {
        for (int slot = kSlots; slot < 2 * kSlots; ++slot) {
            const auto at = static_cast<std::uint64_t>(slot) * 100 + seed * 10'000ULL;
            asio::co_spawn(ends.context, open_in_turn(*ends.guest, at, kRounds, done), check);
        }
    });
    run_to_end(ends.context, wait_for(done, 4 * kSlots * kRounds), std::chrono::seconds(120));
    CHECK(wire.cuts > 10);
    CHECK(ends.guest->stats().sessions == 1);
    MESSAGE("cuts " << wire.cuts << ", handshakes " << ends.host->stats().connections
                    << ", sent again " << ends.host->stats().frames_retransmitted << " + "
                    << ends.guest->stats().frames_retransmitted << ", duplicates dropped "
                    << ends.host->stats().duplicates_dropped << " + "
                    << ends.guest->stats().duplicates_dropped);
    ends.guest->close(Error(ErrorCode::cancelled, "done"));
    ends.host->close(Error(ErrorCode::cancelled, "done"));
    run_to_end(ends.context, wait_for(relays_done, 1));
}

unsigned seed_of_this_run() {
    const char* given = std::getenv("LINK_TEST_SEED");
    return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 1;
}

TEST_CASE("nothing is lost, doubled or reordered when the guest never sees the host's end go") {
    run_property(seed_of_this_run(), GuestSees::nothing, 60);
}

TEST_CASE("nothing is lost, doubled or reordered when the guest sees it at once") {
    run_property(seed_of_this_run() + 1, GuestSees::end_at_once, 60);
}

TEST_CASE("nothing is lost, doubled or reordered when the guest sees it late") {
    run_property(seed_of_this_run() + 2, GuestSees::end_late, 60);
}

// --- sessions ------------------------------------------------------------------------------------

awaitable<void> read_until_error(StreamPtr stream, std::optional<Error>& error) {
    for (;;) {
        auto bytes = co_await stream->read_some();
        if (!bytes) {
            error = bytes.error();
            break;
        }
        if (bytes->empty()) break;
    }
}

TEST_CASE("a new host is a new session: the guest resets all streams and starts again") {
    TwoEnds ends;
    int sessions = 0;
    StreamPtr events;
    StreamPtr held;
    ends.guest->on_new_session([&] {
        ++sessions;
        events = ends.guest->open(StreamKind::events, "{}");
    });
    ends.guest->on_stream([&](StreamPtr stream) { held = std::move(stream); });
    ends.host->on_stream([](StreamPtr) {});
    StreamPtr old = ends.host->open(StreamKind::kernel, "{}");
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    REQUIRE(held);
    std::optional<Error> error;
    asio::co_spawn(ends.context, read_until_error(held, error), [](std::exception_ptr) {});

    StreamPtr at_new_host;
    ends.host = std::make_unique<Link>(ends.context.get_executor(), Role::host, LinkOptions());
    ends.host->on_stream([&](StreamPtr stream) { at_new_host = std::move(stream); });
    ends.host_fd_copy.reset();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    ends.connect();
    StreamPtr fresh = ends.host->open(StreamKind::kernel, R"({"kernel_id":"fresh"})");
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    CHECK(sessions == 2);
    CHECK(ends.guest->stats().sessions == 2);
    REQUIRE(error);
    CHECK(error->code == ErrorCode::connection_lost);
    CHECK(held->params() == R"({"kernel_id":"fresh"})");
    CHECK(!held->error());
    REQUIRE(at_new_host);
    CHECK(at_new_host->kind() == StreamKind::events);
}

TEST_CASE("a guest that lost its state ends the host's link instead of going on wrongly") {
    TwoEnds ends;
    StreamPtr stream = ends.host->open(StreamKind::kernel, "{}");
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    ends.cut();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    REQUIRE(ends.host_ended);
    CHECK(ends.host_ended->code == ErrorCode::connection_lost);
    CHECK(!ends.host->closed());
    ends.guest = std::make_unique<Link>(ends.context.get_executor(), Role::guest, LinkOptions());
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    REQUIRE(ends.host->closed());
    CHECK(ends.host->error()->code == ErrorCode::guest_protocol);
    CHECK(ends.host->error()->cause.find("lost its state") != std::string::npos);
    CHECK(stream->error());
}

awaitable<void> fill_window_and_more(StreamPtr stream, bool& done) {
    const Bytes bytes = pattern(3, 1'000'000);
    const auto written = co_await stream->write(bytes);
    REQUIRE(written);
    done = true;
    co_await stream->finish();
}

awaitable<void> collect(StreamPtr stream, Bytes& all) {
    for (;;) {
        auto bytes = co_await stream->read_some();
        REQUIRE(bytes);
        if (bytes->empty()) break;
        all.insert(all.end(), bytes->begin(), bytes->end());
    }
}

TEST_CASE("a writer that waits for credit goes on after a reconnection") {
    TwoEnds ends;
    StreamPtr received;
    bool done = false;
    ends.guest->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    asio::co_spawn(ends.context, fill_window_and_more(ends.host->open(StreamKind::tcp, "{}"), done),
                   [](std::exception_ptr failure) { CHECK(!failure); });
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    CHECK(!done);
    ends.cut();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    CHECK(!done);
    ends.connect();
    Bytes all;
    run_to_end(ends.context, collect(received, all));
    CHECK(done);
    CHECK(all == pattern(3, 1'000'000));
}

awaitable<void> write_in_vain(StreamPtr stream, std::optional<Error>& error) {
    const Bytes bytes(1'000'000);
    const auto written = co_await stream->write(bytes);
    if (!written) error = written.error();
}

TEST_CASE("a RESET that was sent while nobody was connected arrives") {
    TwoEnds ends;
    StreamPtr received;
    ends.guest->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    StreamPtr stream = ends.host->open(StreamKind::tcp, "{}");
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    ends.cut();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    std::optional<Error> error;
    asio::co_spawn(ends.context, write_in_vain(received, error), [](std::exception_ptr) {});
    stream->reset(Error(ErrorCode::timeout, "too slow"));
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(40)));
    REQUIRE(error);
    CHECK(error->code == ErrorCode::timeout);
    CHECK(ends.host->connected());
    CHECK(ends.host->stats().streams_open == 0);
    CHECK(ends.guest->stats().streams_open == 0);
    CHECK(ends.guest->stats().buffered_bytes == 0);
}

awaitable<void> run_until_cancelled(Link& link, Fd fd) {
    using namespace asio::experimental::awaitable_operators;
    co_await (link.run(std::move(fd)) || pause_for(std::chrono::milliseconds(30)));
}

TEST_CASE("a cancelled run() lets the next one go on") {
    TwoEnds ends;
    StreamPtr received;
    ends.guest->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    StreamPtr stream = ends.host->open(StreamKind::tcp, "{}");
    SocketPair pair;
    ends.start(*ends.guest, std::move(pair.second), ends.guest_ended);
    run_to_end(ends.context, run_until_cancelled(*ends.host, std::move(pair.first)));
    CHECK(!ends.host->connected());
    CHECK(!ends.host->closed());
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    ends.connect();
    bool done = false;
    asio::co_spawn(ends.context, fill_window_and_more(stream, done), [](std::exception_ptr) {});
    Bytes all;
    REQUIRE(received);
    run_to_end(ends.context, collect(received, all));
    CHECK(all == pattern(3, 1'000'000));
}

}  // namespace
}  // namespace cellblock::vm::link::test
