// What the guest link's tests share: two Links on one loop, and a wire between them that can be
// cut.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/bytes.h"
#include "vm/link/link.h"

namespace cellblock::vm::link::test {

namespace asio = boost::asio;
using asio::awaitable;

struct SocketPair {
    Fd first;
    Fd second;
    SocketPair() {
        std::array<int, 2> fds{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0) {
            throw std::runtime_error("socketpair");
        }
        first = Fd(fds[0]);
        second = Fd(fds[1]);
    }
};

inline awaitable<void> pause_for(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(as_tuple_awaitable);
}

// Runs one coroutine to its end on `context`, with everything that it needs beside it; rethrows
// what it throws and fails when it hangs.
inline void run_to_end(asio::io_context& context, awaitable<void> body,
                       std::chrono::seconds limit = std::chrono::seconds(60)) {
    bool done = false;
    std::exception_ptr failure;
    asio::co_spawn(context, std::move(body), [&](std::exception_ptr exception) {
        done = true;
        failure = exception;
        context.stop();
    });
    context.restart();
    context.run_for(limit);
    if (!done) throw std::runtime_error("the test hangs");
    if (failure) std::rethrow_exception(failure);
}

// Two Links over one socketpair, for tests that cut nothing or everything.
struct TwoEnds {
    asio::io_context context;
    std::unique_ptr<Link> host;
    std::unique_ptr<Link> guest;
    std::optional<Error> host_ended;
    std::optional<Error> guest_ended;
    Fd host_fd_copy;  // to cut the connection by shutdown()

    explicit TwoEnds(LinkOptions host_options = LinkOptions(),
                     LinkOptions guest_options = LinkOptions())
        : host(std::make_unique<Link>(context.get_executor(), Role::host, std::move(host_options))),
          guest(std::make_unique<Link>(context.get_executor(), Role::guest,
                                       std::move(guest_options))) {}
    ~TwoEnds() {
        host.reset();
        guest.reset();
        context.restart();
        context.run_for(std::chrono::seconds(5));
    }

    void connect() {
        SocketPair pair;
        host_ended.reset();
        guest_ended.reset();
        host_fd_copy = Fd(::dup(pair.first.get()));
        start(*host, std::move(pair.first), host_ended);
        start(*guest, std::move(pair.second), guest_ended);
    }
    void cut() { ::shutdown(host_fd_copy.get(), SHUT_RDWR); }

    void start(Link& link, Fd fd, std::optional<Error>& ended) {
        asio::co_spawn(context, link.run(std::move(fd)),
                       [&ended](std::exception_ptr exception, Result<void> result) {
                           ended = exception ? Error(ErrorCode::internal, "run() threw")
                                             : result.error();
                       });
    }
};

inline Bytes pattern(std::uint64_t seed, std::size_t size) {
    Bytes bytes(size);
    std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
    for (std::byte& byte : bytes) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        byte = static_cast<std::byte>(state >> 32);
    }
    return bytes;
}

}  // namespace cellblock::vm::link::test
