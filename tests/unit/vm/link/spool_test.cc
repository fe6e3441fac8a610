#include "vm/link/spool.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <doctest/doctest.h>

#include "tests/unit/vm/link/harness.h"

namespace cellblock::vm::link::test {
namespace {

Fd memory_file() {
    return Fd(::memfd_create("spool", MFD_CLOEXEC));
}

TEST_CASE("the spool gives back what it took and starts again when it is empty") {
    Fd file = memory_file();
    const Fd watch(::dup(file.get()));
    Spool spool(std::move(file), 100);
    const auto first = spool.append(as_bytes("hello"));
    const auto second = spool.append(as_bytes("world"));
    REQUIRE(first);
    REQUIRE(second);
    CHECK(!spool.append(Bytes(91)));
    Bytes read;
    REQUIRE(spool.read(*second, read));
    REQUIRE(spool.read(*first, read));
    CHECK(as_text(read) == "worldhello");
    spool.release(5);
    CHECK(spool.live_bytes() == 5);
    spool.release(5);
    struct stat status{};
    REQUIRE(::fstat(watch.get(), &status) == 0);
    CHECK(status.st_size == 0);
    CHECK(spool.append(Bytes(100)));
}

constexpr std::size_t kTotal = 3'000'000;

awaitable<void> write_all_of_it(StreamPtr stream, bool& done) {
    const Bytes bytes = pattern(5, kTotal);
    for (std::size_t at = 0; at < kTotal; at += 50'000) {
        const auto written = co_await stream->write(ByteView(bytes).subspan(at, 50'000));
        REQUIRE(written);
    }
    done = true;
    co_await stream->finish();
}

awaitable<void> read_to_end(StreamPtr stream, Bytes& all) {
    for (;;) {
        auto bytes = co_await stream->read_some();
        REQUIRE(bytes);
        if (bytes->empty()) break;
        all.insert(all.end(), bytes->begin(), bytes->end());
    }
}

void check_spooling(std::size_t spool_max_bytes, bool expect_done_while_away) {
    LinkOptions guest_options;
    guest_options.spool = memory_file();
    guest_options.spool_max_bytes = spool_max_bytes;
    TwoEnds ends(LinkOptions(), std::move(guest_options));
    StreamPtr received;
    StreamPtr opened;
    ends.host->on_stream([&](StreamPtr stream) { received = std::move(stream); });
    ends.guest->on_new_session([&] { opened = ends.guest->open(StreamKind::events, "{}"); });
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    REQUIRE(received);

    bool done = false;
    ends.cut();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    asio::co_spawn(ends.context, write_all_of_it(opened, done),
                   [](std::exception_ptr failure) { CHECK(!failure); });
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(100)));
    CHECK(done == expect_done_while_away);
    CHECK(ends.guest->stats().spooled_bytes > 0);

    ends.connect();
    Bytes all;
    run_to_end(ends.context, read_to_end(received, all));
    CHECK(all == pattern(5, kTotal));
    CHECK(done);
    CHECK(ends.guest->stats().spooled_bytes == 0);
}

TEST_CASE("while the host is away a stream writes on into the spool, and nothing is lost") {
    check_spooling(limits::link_spool_max_bytes, true);
}

TEST_CASE("a full spool makes writers wait") {
    check_spooling(500'000, false);
}

TEST_CASE("a new host empties the spool") {
    LinkOptions guest_options;
    guest_options.spool = memory_file();
    TwoEnds ends(LinkOptions(), std::move(guest_options));
    StreamPtr opened;
    ends.guest->on_new_session([&] { opened = ends.guest->open(StreamKind::events, "{}"); });
    ends.host->on_stream([](StreamPtr) {});
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    StreamPtr stream = ends.guest->open(StreamKind::tcp, "{}");
    ends.cut();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    bool done = false;
    asio::co_spawn(ends.context, write_all_of_it(stream, done), [](std::exception_ptr) {});
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(50)));
    CHECK(ends.guest->stats().spooled_bytes > 0);
    ends.host = std::make_unique<Link>(ends.context.get_executor(), Role::host, LinkOptions());
    ends.connect();
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(20)));
    CHECK(ends.guest->stats().spooled_bytes == 0);
    CHECK(stream->error()->code == ErrorCode::connection_lost);
}

}  // namespace
}  // namespace cellblock::vm::link::test
