#include "gateway/http/server.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <exception>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/awaitable.h"
#include "base/log.h"
#include "gateway/http/connection.h"

namespace cellblock::gateway::http {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// Every spawned coroutine ends here: an exception is a bug, and is told.
void log_end(std::string_view what, const std::exception_ptr& thrown) {
    if (!thrown) return;
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        log::error("coroutine_threw", {{"coroutine", what}, {"error", error.what()}});
    }
}

struct HostPort {
    std::string host;
    std::string port;
};

Result<HostPort> split_address(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    const auto bad = [&address] {
        return fail(ErrorCode::invalid_argument, "\"" + address + "\" is no address to listen on",
                    "write HOST:PORT, for example 127.0.0.1:8888 or [::1]:8888");
    };
    if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) return bad();
    HostPort parts{address.substr(0, colon), address.substr(colon + 1)};
    if (parts.port.find_first_not_of("0123456789") != std::string::npos || parts.port.size() > 5 ||
        std::stoul(parts.port) > 65535) {
        return bad();
    }
    if (parts.host.front() == '[') {
        if (parts.host.back() != ']') return bad();
        parts.host = parts.host.substr(1, parts.host.size() - 2);
    }
    return parts;
}

void set_socket_options(TcpSocket& socket) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    // A client whose machine vanished sends no reset: the kernel's own probes find that.
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    const int fd = socket.native_handle();
    const int idle_s = 30;
    const int interval_s = 10;
    const int unacknowledged_ms = 60'000;
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
}

Result<std::shared_ptr<tcp::acceptor>> open_acceptor(const asio::any_io_executor& executor,
                                                     const std::string& address) {
    auto parts = split_address(address);
    if (!parts) return fail(std::move(parts).error());
    tcp::resolver resolver(executor);
    boost::system::error_code ec;
    const auto found = resolver.resolve(parts->host, parts->port, tcp::resolver::passive, ec);
    if (ec || found.empty()) {
        return fail(ErrorCode::invalid_argument,
                    "cannot listen on " + address + ": " + ec.message(),
                    "give an IP address of this machine");
    }
    const tcp::endpoint endpoint = found.begin()->endpoint();
    auto acceptor = std::make_shared<tcp::acceptor>(executor);
    acceptor->open(endpoint.protocol(), ec);
    if (!ec) acceptor->set_option(asio::socket_base::reuse_address(true), ec);
    if (!ec) acceptor->bind(endpoint, ec);
    if (!ec) acceptor->listen(asio::socket_base::max_listen_connections, ec);
    if (ec) {
        const bool busy = ec == asio::error::address_in_use;
        return fail(busy ? ErrorCode::conflict : ErrorCode::io,
                    "cannot listen on " + address + ": " + ec.message(),
                    busy ? "another program has this port: stop it, or choose one with --listen"
                         : "choose another address with --listen");
    }
    return acceptor;
}

}  // namespace

Result<tcp::endpoint> check_listen(const asio::any_io_executor& executor,
                                   const std::string& address) {
    CB_TRY_ASSIGN(acceptor, open_acceptor(executor, address));
    return acceptor->local_endpoint();
}

Server::Server(asio::any_io_executor executor, ServerOptions options, Router router,
               std::shared_ptr<const Guard> guard, metrics::Registry& registry, WorkerPool& workers)
    : executor_(std::move(executor)),
      core_(std::make_shared<ServerCore>(std::move(options), std::move(router), std::move(guard),
                                         registry, workers)),
      sweep_timer_(std::make_shared<asio::steady_timer>(executor_)) {}

Server::~Server() {
    core_->stopping = true;
    boost::system::error_code ignored;
    for (const auto& acceptor : acceptors_) acceptor->close(ignored);
    sweep_timer_->cancel();
}

Result<void> Server::listen(const std::string& address) {
    CB_TRY_ASSIGN(acceptor, open_acceptor(executor_, address));
    // Inherited by no child: QEMU must not hold our port.
    ::fcntl(acceptor->native_handle(), F_SETFD, FD_CLOEXEC);
    acceptors_.push_back(std::move(acceptor));
    return {};
}

std::vector<tcp::endpoint> Server::endpoints() const {
    std::vector<tcp::endpoint> all;
    boost::system::error_code ignored;
    for (const auto& acceptor : acceptors_) all.push_back(acceptor->local_endpoint(ignored));
    return all;
}

void Server::start() {
    for (const auto& acceptor : acceptors_) {
        asio::co_spawn(executor_, accept_loop(core_, acceptor),
                       [](std::exception_ptr thrown) { log_end("accept_loop", thrown); });
    }
    asio::co_spawn(executor_, sweep_loop(core_, sweep_timer_),
                   [](std::exception_ptr thrown) { log_end("sweep_loop", thrown); });
}

void Server::admit(const std::shared_ptr<ServerCore>& core, TcpSocket socket,
                   const tcp::endpoint& peer) {
    if (core->connections.size() >= core->options.connections_max) {
        core->observer.connections_refused.Increment();
        constexpr std::string_view busy =
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\n"
            "Connection: close\r\n\r\n";
        const auto sent =
            ::send(socket.native_handle(), busy.data(), busy.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        std::ignore = sent;  // a courtesy
        return;
    }
    set_socket_options(socket);
    const auto executor = socket.get_executor();
    auto stream = core->options.tls ? core->options.tls->wrap(std::move(socket))
                                    : make_tcp_stream(std::move(socket));
    std::string name = peer.address().to_string() + ":" + std::to_string(peer.port());
    auto connection = std::make_shared<Connection>(core, std::move(stream), std::move(name));
    // The slot lives in the connection, which its coroutine and this handler keep.
    asio::co_spawn(executor, Connection::run(connection),
                   asio::bind_cancellation_slot(
                       connection->cancel_slot(),
                       [connection](std::exception_ptr thrown) { log_end("connection", thrown); }));
}

asio::awaitable<void> Server::accept_loop(std::shared_ptr<ServerCore> core,
                                          std::shared_ptr<Acceptor> acceptor) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer pause(executor);
    while (!core->stopping) {
        tcp::endpoint peer;
        boost::system::error_code ec;
        TcpSocket socket =
            co_await acceptor->async_accept(peer, asio::redirect_error(asio::use_awaitable, ec));
        if (core->stopping || ec == asio::error::operation_aborted) co_return;
        if (!ec) {
            ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
            admit(core, std::move(socket), peer);
            continue;
        }
        // Out of descriptors, or a client that gave up while it waited: never a busy loop.
        log::warning("http_accept_failed", {{"error", ec.message()}});
        pause.expires_after(std::chrono::milliseconds(100));
        co_await pause.async_wait(as_tuple_awaitable);
    }
}

asio::awaitable<void> Server::sweep_loop(std::shared_ptr<ServerCore> core,
                                         std::shared_ptr<asio::steady_timer> timer) {
    std::vector<std::shared_ptr<Connection>> watched;
    std::vector<pollfd> descriptors;
    while (!core->stopping || !core->connections.empty()) {
        timer->expires_after(core->options.sweep_interval);
        co_await timer->async_wait(as_tuple_awaitable);
        const Deadline now = std::chrono::steady_clock::now();
        watched.clear();
        descriptors.clear();
        for (Connection* connection : core->connections) {
            connection->enforce_deadline(now);
            const int fd = connection->watched_descriptor();
            if (fd < 0) continue;
            watched.push_back(connection->shared_from_this());
            descriptors.push_back(pollfd{fd, POLLRDHUP, 0});
        }
        if (descriptors.empty()) continue;
        // One system call for all, without waiting.
        if (::poll(descriptors.data(), descriptors.size(), 0) <= 0) continue;
        for (std::size_t i = 0; i < descriptors.size(); ++i) {
            if (descriptors[i].revents != 0) watched[i]->on_poll(descriptors[i].revents, now);
        }
        watched.clear();
    }
}

asio::awaitable<bool> Server::wait_until_empty(Deadline deadline) {
    asio::steady_timer timer(executor_);
    while (!core_->connections.empty() && std::chrono::steady_clock::now() < deadline) {
        timer.expires_after(std::chrono::milliseconds(20));
        co_await timer.async_wait(as_tuple_awaitable);
    }
    co_return core_->connections.empty();
}

asio::awaitable<void> Server::shutdown(std::chrono::milliseconds grace, LastWords last_words) {
    core_->stopping = true;
    boost::system::error_code ignored;
    for (const auto& acceptor : acceptors_) acceptor->close(ignored);
    const auto for_each = [this](void (Connection::*action)()) {
        const std::set<Connection*> now = core_->connections;
        for (Connection* connection : now) {
            if (core_->connections.contains(connection)) (connection->*action)();
        }
    };
    for_each(&Connection::end_when_idle);
    using std::chrono::steady_clock;
    bool empty = co_await wait_until_empty(steady_clock::now() + grace);
    if (!empty && last_words) {
        co_await last_words();
        empty = co_await wait_until_empty(steady_clock::now() + std::chrono::seconds(2));
    }
    if (!empty) {
        log::warning("http_shutdown_cut_off", {{"connections", core_->connections.size()}});
        for_each(&Connection::cut_off);
        co_await wait_until_empty(steady_clock::now() + std::chrono::seconds(5));
    }
    sweep_timer_->cancel();
}

}  // namespace cellblock::gateway::http
