// The guest link's speed over a socket pair, both ends on one thread: throughput for large
// messages, time for a small one to go and come back. Plain numbers, no pass or fail.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "vm/link/link.h"

using namespace cellblock;
using namespace cellblock::vm::link;
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

void check(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "link_bench: %s failed\n", what);
    std::exit(1);
}

asio::awaitable<void> swallow(StreamPtr stream, std::size_t& messages) {
    for (;;) {
        auto message = co_await stream->read_message(64 * limits::MiB);
        if (!message || !*message) break;
        ++messages;
    }
    (void)co_await stream->finish();
}

asio::awaitable<void> echo(StreamPtr stream) {
    for (;;) {
        auto message = co_await stream->read_message(64 * limits::MiB);
        if (!message || !*message) break;
        (void)co_await stream->write_message(**message);
    }
    (void)co_await stream->finish();
}

asio::awaitable<void> pour(StreamPtr stream, std::size_t message_bytes, std::size_t total_bytes) {
    const Bytes message(message_bytes, std::byte{'x'});
    for (std::size_t sent = 0; sent < total_bytes; sent += message_bytes) {
        const auto written = co_await stream->write_message(message);
        check(written.has_value(), "write");
    }
    (void)co_await stream->finish();
    const auto end = co_await stream->read_some();
    check(end && end->empty(), "the end of a stream");
}

asio::awaitable<void> ping(StreamPtr stream, std::size_t bytes, std::vector<double>& times_us) {
    const Bytes message(bytes, std::byte{'x'});
    for (int i = 0; i < 20'000; ++i) {
        const auto start = Clock::now();
        (void)co_await stream->write_message(message);
        const auto answer = co_await stream->read_message(limits::MiB);
        check(answer && *answer && (*answer)->size() == bytes, "ping");
        times_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    (void)co_await stream->finish();
}

struct Ends {
    asio::io_context context;
    Link host{context.get_executor(), Role::host, LinkOptions()};
    Link guest{context.get_executor(), Role::guest, LinkOptions()};
    std::size_t messages = 0;

    Ends() {
        guest.on_stream([this](StreamPtr stream) {
            auto work = stream->kind() == StreamKind::call ? echo(std::move(stream))
                                                           : swallow(std::move(stream), messages);
            asio::co_spawn(context, std::move(work), [](std::exception_ptr) {});
        });
        std::array<int, 2> fds{};
        check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0, "socketpair");
        const auto ended = [](std::exception_ptr, const Result<void>&) {};
        asio::co_spawn(context, host.run(Fd(fds[0])), ended);
        asio::co_spawn(context, guest.run(Fd(fds[1])), ended);
    }
    double run(asio::awaitable<void> work) {
        const auto start = Clock::now();
        asio::co_spawn(context, std::move(work), [this](std::exception_ptr) { context.stop(); });
        context.restart();
        context.run();
        return std::chrono::duration<double>(Clock::now() - start).count();
    }
};

}  // namespace

int main() {
    for (const std::size_t kib : {1, 16, 64, 256, 1024}) {
        Ends ends;
        const std::size_t message_bytes = kib * limits::KiB;
        const std::size_t total =
            std::min<std::size_t>(1024 * limits::MiB, message_bytes * 200'000);
        const double seconds =
            ends.run(pour(ends.host.open(StreamKind::file_write, "{}"), message_bytes, total));
        std::printf("messages of %4zu KiB: %6.0f MB/s, %8.0f messages/s\n", kib,
                    static_cast<double>(total) / 1e6 / seconds,
                    static_cast<double>(ends.messages) / seconds);
    }
    for (const std::size_t bytes : {32, 1024}) {
        Ends ends;
        std::vector<double> times_us;
        ends.run(ping(ends.host.open(StreamKind::call, "{}"), bytes, times_us));
        std::sort(times_us.begin(), times_us.end());
        std::printf("there and back, %4zu bytes: median %.1f us, 99%% %.1f us\n", bytes,
                    times_us[times_us.size() / 2], times_us[times_us.size() * 99 / 100]);
    }
    return 0;
}
