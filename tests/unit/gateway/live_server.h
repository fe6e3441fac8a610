// A running http::Server with routes that show every behaviour, and a blocking raw client.
//
// The server's loop runs on a thread of its own; the test's thread is the client.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include "base/awaitable.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/spawn.h"
#include "gateway/auth/guard.h"
#include "gateway/http/server.h"

namespace cellblock::gateway::http::testing {

using std::chrono::milliseconds;

// What the handlers saw.
struct Seen {
    std::atomic<int> cancelled{0};
    std::atomic<int> completed{0};
    std::atomic<std::size_t> flooded_bytes{0};
};

inline boost::asio::awaitable<bool> pause(milliseconds duration) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, duration);
    const auto [ec] = co_await timer.async_wait(as_tuple_awaitable);
    co_return !ec;
}

inline boost::asio::awaitable<Result<void>> hello(Request&, ResponseWriter& writer) {
    co_return co_await writer.send(200, "text/plain", "hello");
}
inline boost::asio::awaitable<Result<void>> silent(Request&, ResponseWriter&) {
    co_return Result<void>();
}
inline boost::asio::awaitable<Result<void>> throws(Request&, ResponseWriter&) {
    co_await pause(milliseconds(1));
    throw std::runtime_error("boom");
}
inline boost::asio::awaitable<Result<void>> echo(Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(text, co_await request.read_all(64 * 1024 * 1024));
    const std::string answer = std::to_string(text.size()) + ":" + text.substr(0, 32);
    co_return co_await writer.send(200, "text/plain", answer);
}
inline boost::asio::awaitable<Result<void>> json(Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(code, required_string(body, "code"));
    const Json answer = {{"length", code.size()}};
    co_return co_await writer.send_json(200, answer);
}
inline boost::asio::awaitable<Result<void>> refuse(Request&, ResponseWriter&) {
    co_return fail(ErrorCode::not_found, "there is no such thing", "look elsewhere");
}
// Ten lines, 100 ms apart.
inline boost::asio::awaitable<Result<void>> lines(Seen& seen, ResponseWriter& writer) {
    writer.set_probe("{\"type\":\"keepalive\"}\n");
    CB_CO_TRY(co_await writer.start(200, ""));
    for (int i = 0; i < 10; ++i) {
        if (!co_await pause(milliseconds(100))) {
            ++seen.cancelled;
            co_return fail(ErrorCode::cancelled, "interrupted");
        }
        const std::string line = "line " + std::to_string(i) + "\n";
        if (auto written = co_await writer.write(line); !written) {
            ++seen.cancelled;
            co_return written;
        }
    }
    ++seen.completed;
    co_return Result<void>();
}
// Answers once after `duration`.
inline boost::asio::awaitable<Result<void>> later(Seen& seen, ResponseWriter& writer,
                                                  milliseconds duration) {
    if (!co_await pause(duration)) {
        ++seen.cancelled;
        co_return fail(ErrorCode::cancelled, "interrupted");
    }
    ++seen.completed;
    co_return co_await writer.send(200, "text/plain", "late");
}
inline boost::asio::awaitable<Result<void>> flood(Seen& seen, ResponseWriter& writer) {
    CB_CO_TRY(co_await writer.start(200, "text/plain"));
    const std::string block(64 * 1024, 'x');
    while (true) {
        CB_CO_TRY(co_await writer.write(block));
        seen.flooded_bytes += block.size();
    }
}
inline boost::asio::awaitable<Result<void>> break_off(Request&, ResponseWriter& writer) {
    CB_CO_TRY(co_await writer.start(200, "text/plain"));
    CB_CO_TRY(co_await writer.write("half"));
    co_return fail(ErrorCode::sandbox_gone, "the sandbox went");
}
inline boost::asio::awaitable<Result<void>> file(std::string path, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(fd, open_file(path, O_RDONLY));
    FileBody body;
    body.fd = std::move(fd);
    body.size = std::filesystem::file_size(path);
    body.content_type = "text/csv";
    body.etag = "\"v1\"";
    co_return co_await writer.send_file(std::move(body));
}
inline boost::asio::awaitable<Result<void>> upgrade(Request&, ResponseWriter& writer) {
    writer.headers().set("Upgrade", "echo");
    CB_CO_TRY_ASSIGN(wire, co_await writer.upgrade(nullptr));
    while (wire->buffered().size() < 4) {
        const auto received = co_await wire->fill(Deadline::max());
        if (!received || *received == 0) co_return Result<void>();
    }
    co_return co_await wire->write(as_bytes(wire->buffered()));
}

class LiveServer {
  public:
    explicit LiveServer(ServerOptions options = fast_options(),
                        std::shared_ptr<const Guard> guard = nullptr)
        : file_(std::filesystem::temp_directory_path() / ("cellblock-http-" + new_short_id())) {
        std::string text;
        for (int i = 0; text.size() < 600'000; ++i) text += std::to_string(i) + ",";
        text.resize(600'000);
        file_text = text;
        static_cast<void>(write_file_atomically(file_, text));
        server_ = std::make_unique<Server>(loop_.get_executor(), std::move(options), routes(),
                                           std::move(guard), registry_, workers_);
        const auto listening = server_->listen("127.0.0.1:0");
        if (!listening) throw std::runtime_error(listening.error().text());
        port_ = server_->endpoints().front().port();
        server_->start();
        boost::asio::post(thread_, [this] { loop_.run(); });
    }
    ~LiveServer() {
        stop(milliseconds(0));
        loop_.stop();
        thread_.join();
        std::filesystem::remove(file_);
    }
    static ServerOptions fast_options() {
        ServerOptions options;
        options.head_timeout = milliseconds(400);
        options.idle_timeout = milliseconds(2000);
        options.body_timeout = milliseconds(600);
        options.write_timeout = milliseconds(800);
        options.linger_timeout = milliseconds(5000);
        options.sweep_interval = milliseconds(50);
        return options;
    }
    std::uint16_t port() const { return port_; }
    Seen& seen() { return seen_; }
    std::size_t connections() {
        return boost::asio::co_spawn(loop_, count(), boost::asio::use_future).get();
    }
    void stop(milliseconds grace) {
        boost::asio::co_spawn(loop_, server_->shutdown(grace), boost::asio::use_future).get();
    }
    std::string metrics() const { return registry_.text(); }
    std::string file_text;

  private:
    boost::asio::awaitable<std::size_t> count() { co_return server_->connections(); }

    Router routes() {
        Router router;
        RouteOptions plain;
        plain.body_max_bytes = 1024 * 1024;
        RouteOptions open = plain;
        open.access = Access::open;
        RouteOptions text = plain;
        text.style = ErrorStyle::code_interpreter;
        RouteOptions cancel = plain;
        cancel.on_disconnect = OnDisconnect::cancel;
        router.add("GET", "/hello", plain, hello);
        router.add("GET", "/open", open, hello);
        router.add("GET", "/silent", plain, silent);
        router.add("GET", "/throws", plain, throws);
        router.add("POST", "/echo", plain, echo);
        router.add("POST", "/json", plain, json);
        router.add("GET", "/refuse/{id}", plain, refuse);
        router.add("GET", "/refuse-text", text, refuse);
        router.add("GET", "/break", plain, break_off);
        router.add("GET", "/upgrade", plain, upgrade);
        const auto later_ = [this](milliseconds duration) {
            return [this, duration](Request&, ResponseWriter& writer) {
                return later(seen_, writer, duration);
            };
        };
        router.add("GET", "/lines", cancel,
                   [this](Request&, ResponseWriter& writer) { return lines(seen_, writer); });
        router.add("GET", "/long", cancel, later_(milliseconds(20'000)));
        router.add("GET", "/short", cancel, later_(milliseconds(300)));
        router.add("GET", "/short-finish", plain, later_(milliseconds(300)));
        router.add("GET", "/flood", plain,
                   [this](Request&, ResponseWriter& writer) { return flood(seen_, writer); });
        router.add("GET", "/file", plain, [this](Request&, ResponseWriter& writer) {
            return file(file_.string(), writer);
        });
        return router;
    }

    std::filesystem::path file_;
    boost::asio::io_context loop_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        loop_.get_executor()};
    metrics::Registry registry_;
    WorkerPool workers_{1};
    Seen seen_;
    std::unique_ptr<Server> server_;
    std::uint16_t port_ = 0;
    boost::asio::thread_pool thread_{1};
};

// A blocking client that sends exactly the bytes it is told to.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port, int receive_buffer = 0) {
        fd_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (receive_buffer > 0) {
            ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
            fd_.reset();
        }
        const timeval limit{10, 0};
        ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }
    bool connected() const { return static_cast<bool>(fd_); }
    int descriptor() const { return fd_.get(); }
    bool send(std::string_view text) {
        while (!text.empty()) {
            const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    void half_close() { ::shutdown(fd_.get(), SHUT_WR); }
    void close() { fd_.reset(); }
    // RST instead of FIN.
    void reset() {
        const linger hard{1, 0};
        ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        fd_.reset();
    }
    // Until the server ends the connection (or 10 s).
    std::string read_all() {
        while (receive()) {
        }
        return std::exchange(buffer_, {});
    }
    // Until `mark` was received; what came up to and with it.
    std::string read_until(std::string_view mark) {
        while (buffer_.find(mark) == std::string::npos) {
            if (!receive()) return std::exchange(buffer_, {});
        }
        const std::size_t end = buffer_.find(mark) + mark.size();
        std::string text = buffer_.substr(0, end);
        buffer_.erase(0, end);
        return text;
    }
    // Whether the server has ended the connection within `limit`.
    bool closed_within(milliseconds limit) {
        pollfd waiting{fd_.get(), POLLIN, 0};
        if (::poll(&waiting, 1, static_cast<int>(limit.count())) != 1) return false;
        char byte;
        return ::recv(fd_.get(), &byte, 1, 0) <= 0;
    }

  private:
    bool receive() {
        char block[65536];
        const ssize_t got = ::recv(fd_.get(), block, sizeof block, 0);
        if (got <= 0) return false;
        buffer_.append(block, static_cast<std::size_t>(got));
        return true;
    }
    Fd fd_;
    std::string buffer_;
};

inline std::string get(std::string_view path, std::string_view fields = "") {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) +
           "\r\n";
}
inline std::string post(std::string_view path, std::string_view body) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string(body);
}
// One request on a connection of its own; everything until the server closes.
inline std::string ask(LiveServer& server, std::string text) {
    RawClient client(server.port());
    const std::size_t line_end = text.find("\r\n");
    text.insert(line_end + 2, "Connection: close\r\n");
    client.send(text);
    return client.read_all();
}
inline bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}
// Polls a condition; false when it did not come true in time.
template <typename Condition>
bool eventually(Condition condition, milliseconds limit = milliseconds(5000)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
        if (condition()) return true;
        ::poll(nullptr, 0, 10);
    }
    return false;
}
inline std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
        ++count;
    }
    return count;
}

}  // namespace cellblock::gateway::http::testing
