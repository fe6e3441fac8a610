#include "vm/agent/port.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"
#include "base/files.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
constexpr std::string_view port_name = "cellblock";
// SIGIO tells at once; this only mends a signal that was lost.
constexpr std::chrono::seconds look_again{2};

class VirtioPort : public Port {
  public:
    VirtioPort(asio::any_io_executor executor, Fd port)
        : port_(std::move(port)), signal_(executor, SIGIO), timer_(executor) {
        ::fcntl(port_.get(), F_SETOWN, ::getpid());
    }

    asio::awaitable<Result<Fd>> next() override {
        // SIGIO also comes for every piece of data, so it is only on while we wait.
        ask_for_signals(O_ASYNC);
        while (!closed_ && !host_is_there()) co_await wait_for_change();
        ask_for_signals(0);
        if (closed_) co_return fail(ErrorCode::cancelled, "the port was closed");
        Fd copy(::fcntl(port_.get(), F_DUPFD_CLOEXEC, 3));
        if (!copy) co_return fail(error_from_errno(errno, "duplicate the port"));
        co_return copy;
    }

    void close() override {
        closed_ = true;
        signal_.cancel();
        timer_.cancel();
    }

  private:
    void ask_for_signals(int flag) { ::fcntl(port_.get(), F_SETFL, O_NONBLOCK | flag); }

    bool host_is_there() const {
        pollfd wait{port_.get(), POLLIN | POLLOUT, 0};
        return ::poll(&wait, 1, 0) >= 0 && (wait.revents & POLLHUP) == 0;
    }

    asio::awaitable<void> wait_for_change() {
        using asio::experimental::awaitable_operators::operator||;
        timer_.expires_after(look_again);
        auto changed = signal_.async_wait(as_tuple_awaitable);
        auto waited = timer_.async_wait(as_tuple_awaitable);
        (void)co_await (std::move(changed) || std::move(waited));
    }

    Fd port_;
    asio::signal_set signal_;
    asio::steady_timer timer_;
    bool closed_ = false;
};

class ListeningPort : public Port {
  public:
    ListeningPort(asio::any_io_executor executor, fs::path path)
        : acceptor_(executor), path_(std::move(path)) {}

    Result<void> listen() {
        ::unlink(path_.c_str());
        boost::system::error_code error;
        const asio::local::stream_protocol::endpoint endpoint(path_.string());
        acceptor_.open(endpoint.protocol(), error);
        if (!error) acceptor_.bind(endpoint, error);
        if (!error) acceptor_.listen(8, error);
        if (!error) return {};
        return fail(ErrorCode::io, "cannot listen on " + path_.string() + ": " + error.message(),
                    "the folder has to exist and be writable");
    }

    asio::awaitable<Result<Fd>> next() override {
        auto [error, socket] = co_await acceptor_.async_accept(as_tuple_awaitable);
        if (error) co_return fail(ErrorCode::io, "accepting a host: " + error.message());
        co_return Fd(socket.release());
    }

    void close() override {
        acceptor_.close();
        ::unlink(path_.c_str());
    }

  private:
    asio::local::stream_protocol::acceptor acceptor_;
    fs::path path_;
};

// There is no udev in the guest, so the name is looked up in sysfs.
Result<fs::path> find_port() {
    std::error_code error;
    const fs::path ports = "/sys/class/virtio-ports";
    for (fs::directory_iterator it(ports, error), end; !error && it != end; it.increment(error)) {
        const auto name = read_file(it->path() / "name", 256);
        if (name && name->substr(0, name->find('\n')) == port_name) {
            return fs::path("/dev") / it->path().filename();
        }
    }
    return fail(ErrorCode::not_found, "this machine has no virtio-serial port named cellblock",
                "the host has to add -device virtserialport,name=cellblock");
}

}  // namespace

Result<std::unique_ptr<Port>> open_port(asio::any_io_executor executor, const Options& options) {
    if (options.mode == Mode::rootless) {
        auto port = std::make_unique<ListeningPort>(executor, options.socket);
        CB_TRY(port->listen());
        return port;
    }
    fs::path path = options.socket;
    if (path.empty()) {
        CB_TRY_ASSIGN(found, find_port());
        path = std::move(found);
    }
    CB_TRY_ASSIGN(fd, open_file(path, O_RDWR | O_NONBLOCK | O_NOCTTY));
    return std::make_unique<VirtioPort>(executor, std::move(fd));
}

}  // namespace cellblock::vm::agent
