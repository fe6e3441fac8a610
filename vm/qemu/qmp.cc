#include "vm/qemu/qmp.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/limits.h"
#include "base/log.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

// One waiting command; lives in execute()'s frame.
struct Pending {
    asio::steady_timer timer;
    std::optional<Result<Json>> reply;

    Pending(const asio::any_io_executor& executor, Deadline deadline) : timer(executor, deadline) {}
};

Result<Json> reply_of(Json& message) {
    if (message.contains("return")) return std::move(message["return"]);
    std::string text = "QEMU refused a command";
    if (message["error"].is_object() && message["error"].contains("desc") &&
        message["error"]["desc"].is_string()) {
        text = "QEMU: " + message["error"]["desc"].get<std::string>().substr(0, 500);
    }
    return fail(ErrorCode::io, text);
}

}  // namespace

struct QmpClient::State {
    asio::local::stream_protocol::socket socket;
    EventHandler on_event;
    std::map<std::uint64_t, Pending*> pending;
    std::uint64_t next_id = 1;
    std::optional<Error> closed;  // set once; why nothing will ever be answered
    bool greeted = false;
    std::unique_ptr<Pending> greeting;
    std::string buffer;

    State(const asio::any_io_executor& executor, EventHandler handler)
        : socket(executor), on_event(std::move(handler)) {}

    void shut(Error why) {
        if (closed) return;
        closed = std::move(why);
        boost::system::error_code ignored;
        socket.close(ignored);
        for (auto& [id, waiting] : pending) {
            waiting->reply.emplace(fail(*closed));
            waiting->timer.cancel();
        }
        pending.clear();
        if (greeting) greeting->timer.cancel();
    }

    // False: this peer does not speak QMP.
    bool handle_line(std::string_view line) {
        auto message = parse_json(line, JsonLimits{limits::qmp_line_max_bytes}, "a QMP message");
        if (!message || !message->is_object()) return false;
        if (message->contains("QMP")) {
            greeted = true;
            if (greeting) greeting->timer.cancel();
            return true;
        }
        if (message->contains("event")) {
            QmpEvent event;
            if (!(*message)["event"].is_string()) return false;
            event.name = (*message)["event"].get<std::string>();
            event.data = message->contains("data") ? std::move((*message)["data"]) : Json::object();
            if (!event.data.is_object()) event.data = Json::object();
            const EventHandler handler = on_event;  // it may close this client
            if (handler) handler(event);
            return true;
        }
        if (!message->contains("return") && !message->contains("error")) return false;
        const auto id = message->find("id");
        if (id == message->end() || !id->is_number_unsigned()) return true;  // nobody waits for it
        const auto waiting = pending.find(id->get<std::uint64_t>());
        if (waiting == pending.end()) return true;  // its command timed out
        waiting->second->reply.emplace(reply_of(*message));
        waiting->second->timer.cancel();
        pending.erase(waiting);
        return true;
    }

    // Whole lines out of the buffer; false as handle_line().
    bool handle_buffer() {
        std::size_t begin = 0;
        while (!closed) {
            const std::size_t end = buffer.find('\n', begin);
            if (end == std::string::npos) break;
            std::string_view line(buffer.data() + begin, end - begin);
            begin = end + 1;
            if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
            if (!line.empty() && !handle_line(line)) return false;
        }
        buffer.erase(0, begin);
        return buffer.size() <= limits::qmp_line_max_bytes;
    }

    // Commands are small and QEMU reads them at once: a full socket means a stuck monitor.
    Result<void> send(std::string_view line, int fd) {
        iovec vector{const_cast<char*>(line.data()), line.size()};
        msghdr message{};
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        if (fd >= 0) {
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            cmsghdr* header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(sizeof(int));
            std::memcpy(CMSG_DATA(header), &fd, sizeof(int));
        }
        ssize_t sent = -1;
        do {
            sent = ::sendmsg(socket.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        } while (sent < 0 && errno == EINTR);
        if (sent == static_cast<ssize_t>(line.size())) return {};
        const bool stuck = sent >= 0 || errno == EAGAIN;
        Error error = stuck ? Error(ErrorCode::timeout, "QEMU does not read its monitor")
                            : Error(ErrorCode::connection_lost,
                                    std::string("QEMU's monitor: ") + std::strerror(errno));
        shut(error);
        return fail(std::move(error));
    }
};

asio::awaitable<void> QmpClient::read_lines(std::shared_ptr<State> state) {
    std::array<char, 16384> chunk;
    while (!state->closed) {
        const auto [error, size] =
            co_await state->socket.async_read_some(asio::buffer(chunk), as_tuple_awaitable);
        if (state->closed) break;
        if (error) {
            state->shut(Error(ErrorCode::connection_lost, "QEMU closed its monitor"));
            break;
        }
        state->buffer.append(chunk.data(), size);
        if (!state->handle_buffer()) {
            state->shut(Error(ErrorCode::guest_protocol, "QEMU's monitor sent what is not QMP"));
        }
    }
}

asio::awaitable<Result<std::unique_ptr<QmpClient>>> QmpClient::connect(
    std::filesystem::path socket_path, EventHandler on_event, Deadline deadline) {
    const auto executor = co_await asio::this_coro::executor;
    auto state = std::make_shared<State>(executor, std::move(on_event));
    // A Unix connect either succeeds at once, fails, or would wait for a full backlog: all of that
    // without blocking.
    boost::system::error_code error;
    state->socket.open(asio::local::stream_protocol(), error);
    if (!error) state->socket.native_non_blocking(true, error);
    if (!error) {
        state->socket.connect(asio::local::stream_protocol::endpoint(socket_path.string()), error);
    }
    if (error) {
        co_return fail(ErrorCode::connection_lost,
                       "could not connect to QEMU's monitor: " + error.message());
    }
    state->greeting = std::make_unique<Pending>(executor, deadline);
    auto on_end = [](std::exception_ptr failure) {
        if (failure) log::error("qmp_reader_failed");
    };
    asio::co_spawn(executor, read_lines(state), on_end);
    std::unique_ptr<QmpClient> client(new QmpClient(state));
    if (!state->greeted && !state->closed) {
        co_await state->greeting->timer.async_wait(as_tuple_awaitable);
    }
    if (state->closed) co_return fail(*state->closed);
    if (!state->greeted) {
        state->shut(Error(ErrorCode::timeout, "QEMU's monitor did not greet in time"));
        co_return fail(*state->closed);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    auto negotiated = co_await client->execute("qmp_capabilities", Json::object(), left);
    if (!negotiated) co_return fail(negotiated.error());
    co_return std::move(client);
}

QmpClient::~QmpClient() {
    close();
}

void QmpClient::close() {
    state_->on_event = nullptr;
    state_->shut(Error(ErrorCode::connection_lost, "QEMU's monitor was closed"));
}

bool QmpClient::connected() const {
    return !state_->closed;
}

asio::awaitable<Result<Json>> QmpClient::execute(std::string command, Json arguments,
                                                 std::chrono::milliseconds timeout) {
    return execute_with_fd(std::move(command), std::move(arguments), -1, timeout);
}

asio::awaitable<Result<Json>> QmpClient::execute_with_fd(std::string command, Json arguments,
                                                         int fd,
                                                         std::chrono::milliseconds timeout) {
    const auto state = state_;  // outlives this object if it is destroyed while we wait
    if (state->closed) co_return fail(*state->closed);
    const auto executor = co_await asio::this_coro::executor;
    const std::uint64_t id = state->next_id++;
    Json message = {{"execute", command}, {"id", id}};
    if (!arguments.empty()) message["arguments"] = std::move(arguments);
    Pending pending(executor, std::chrono::steady_clock::now() + timeout);
    state->pending.emplace(id, &pending);
    struct Deregister {  // also when this coroutine is destroyed in its wait
        State& state;
        std::uint64_t id;
        Deregister(State& s, std::uint64_t i) : state(s), id(i) {}
        ~Deregister() { state.pending.erase(id); }
    } deregister(*state, id);
    const std::string line = dump_ascii(message) + "\n";
    auto sent = state->send(line, fd);
    if (!sent) co_return fail(sent.error().in(command));
    if (!pending.reply) co_await pending.timer.async_wait(as_tuple_awaitable);
    if (!pending.reply) {
        co_return fail(ErrorCode::timeout, "QEMU did not answer " + command + " in time");
    }
    if (!*pending.reply) co_return fail(pending.reply->error().in(command));
    co_return std::move(**pending.reply);
}

}  // namespace cellblock::vm
