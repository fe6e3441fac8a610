#include "gateway/cli/lasting_upstream.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "kernel-proxy/client_codec.h"

namespace cellblock::gateway::cli {

using std::chrono::steady_clock;

namespace {

// A gateway that is started again listens a tenth of a second later.
constexpr std::chrono::milliseconds retry_interval{100};
constexpr std::chrono::seconds useful_after{10};

// Errors that no later attempt mends.
bool is_final(ErrorCode code) {
    return code == ErrorCode::unauthorized || code == ErrorCode::not_supported;
}

}  // namespace

LastingUpstream::LastingUpstream(const HttpClient& client, std::string path,
                                 std::chrono::seconds patience, Fd never)
    : client_(client), path_(std::move(path)), patience_(patience), never_(std::move(never)) {}

Result<std::unique_ptr<LastingUpstream>> LastingUpstream::connect(const HttpClient& client,
                                                                  const std::string& channels_path,
                                                                  std::chrono::seconds patience) {
    Fd never(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!never) return fail(error_from_errno(errno, "make an eventfd"));
    const std::string path = channels_path + "?session_id=" + new_uuid();
    std::unique_ptr<LastingUpstream> upstream(
        new LastingUpstream(client, path, patience, std::move(never)));
    CB_TRY_ASSIGN(socket,
                  WebSocketClient::open(client, path, std::string(kernel_proxy::v1_protocol_name)));
    CB_TRY(socket->wait_for_hands());
    upstream->socket_ = std::move(socket);
    upstream->connected_ = true;
    upstream->useful_ = true;
    upstream->connection_ = 1;
    return upstream;
}

int LastingUpstream::descriptor() const {
    return socket_ ? socket_->descriptor() : never_.get();
}

Deadline LastingUpstream::next_check() const {
    return socket_ ? socket_->next_check() : next_try_;
}

std::size_t LastingUpstream::waiting_bytes() const {
    return connected_ ? socket_->waiting_bytes() : std::numeric_limits<std::size_t>::max();
}

Result<void> LastingUpstream::send(std::span<const ByteView> parts) {
    if (!connected_) return {};  // it was never sent, for the caller too
    const auto sent = socket_->send(parts);
    return sent ? sent : lose(sent.error());
}

Result<void> LastingUpstream::flush() {
    if (!connected_) return {};
    const auto flushed = socket_->flush();
    return flushed ? flushed : lose(flushed.error());
}

Result<std::optional<Bytes>> LastingUpstream::receive() {
    if (!connected_) {
        CB_TRY(reconnect());
    }
    if (!connected_) return std::optional<Bytes>();
    auto message = socket_->receive();
    if (message) {
        if (*message) useful_ = true;
        return message;
    }
    CB_TRY(lose(message.error()));
    return std::optional<Bytes>();
}

Result<void> LastingUpstream::lose(const Error& error) {
    if (error.code == ErrorCode::kernel_died) return fail(error);
    log::warning("gateway_lost", {{"why", error.text()}});
    socket_.reset();
    connected_ = false;
    // Connections that end at once again are no reason to be patient anew.
    const Deadline now = steady_clock::now();
    if (std::exchange(useful_, false) || now > connected_at_ + useful_after) lost_at_ = now;
    next_try_ = now + retry_interval;
    if (patience_ == std::chrono::seconds(0)) return fail(error);
    return {};
}

Result<void> LastingUpstream::reconnect() {
    if (!socket_) {
        if (steady_clock::now() < next_try_) return {};
        auto opened =
            WebSocketClient::open(client_, path_, std::string(kernel_proxy::v1_protocol_name));
        if (!opened) return try_later(opened.error());
        socket_ = std::move(*opened);
    }
    const auto done = socket_->shake_hands();
    if (!done) return try_later(done.error());
    if (!*done) return {};
    connected_ = true;
    connected_at_ = steady_clock::now();
    ++connection_;
    log::info("gateway_found_again", {{"connection", connection_}});
    return {};
}

Result<void> LastingUpstream::try_later(const Error& error) {
    socket_.reset();
    if (error.code == ErrorCode::not_found) {
        return fail(ErrorCode::kernel_died, "the gateway does not know the kernel any more");
    }
    if (is_final(error.code) || steady_clock::now() >= lost_at_ + patience_) return fail(error);
    next_try_ = steady_clock::now() + retry_interval;
    return {};
}

}  // namespace cellblock::gateway::cli
