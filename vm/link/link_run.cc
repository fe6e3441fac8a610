// One connection's life: the reading coroutine (run's own) and the one writing coroutine.
//
// The writer owns `out`: it refills it only when it is empty, so frames of the streams go out
// fairly and control frames wait for one batch at most. Whoever ends the connection sets `stopped`
// and takes the descriptor away; both coroutines then end by themselves, whatever they wait for.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"
#include "vm/link/link_connection.h"
#include "vm/link/link_core.h"

namespace cellblock::vm::link {
namespace {

using boost::asio::as_tuple;
using boost::asio::awaitable;
using boost::asio::use_awaitable;

// What a control frame may have to wait for, and what one system call takes.
constexpr std::size_t kBatchBytes = 256 * 1024;
constexpr std::size_t kBatchPieces = 64;
// A writer that is never blocked lets the others of the loop run this often.
constexpr std::size_t kYieldBytes = 1024 * 1024;
// An ACK goes with the next frame, after this many bytes, or after this long.
constexpr std::size_t kAcknowledgeBytes = 128 * 1024;
constexpr std::chrono::milliseconds kAcknowledgeDelay{10};

Result<bool> prepare_descriptor(int fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        return fail(error_from_errno(errno, "make the guest link's descriptor non-blocking"));
    }
    struct stat status{};
    if (::fstat(fd, &status) != 0) {
        return fail(error_from_errno(errno, "look at the guest link's descriptor"));
    }
    return S_ISSOCK(status.st_mode);
}

template <typename Pieces>
ssize_t send_pieces(int fd, bool is_socket, const Pieces& pieces) {
    std::array<iovec, kBatchPieces> vectors;
    std::size_t count = 0;
    for (const auto& piece : pieces) {
        if (count == vectors.size()) break;
        // SAFETY: iovec has no const; the kernel only reads.
        vectors[count].iov_base = const_cast<std::byte*>(piece.bytes.data());
        vectors[count].iov_len = piece.bytes.size();
        ++count;
    }
    ssize_t sent = -1;
    do {
        if (is_socket) {
            msghdr message{};
            message.msg_iov = vectors.data();
            message.msg_iovlen = count;
            sent = ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        } else {
            sent = ::writev(fd, vectors.data(), static_cast<int>(count));
        }
    } while (sent < 0 && errno == EINTR);
    return sent;
}

Error lost(std::string why) {
    return Error(ErrorCode::connection_lost, "the guest link's connection ended: " + why);
}

}  // namespace

const Bytes* LinkCore::next_frame() {
    if (next_to_send_ == unacknowledged_.size() && !number_next_frame()) return nullptr;
    return &unacknowledged_[next_to_send_++].frame;
}

// Precondition: `out` is empty. False: there is nothing to write.
bool LinkCore::fill(Connection& connection) {
    connection.greeting = std::exchange(connection.greeting_pending, Bytes());
    if (!connection.greeting.empty()) connection.out.emplace_back(connection.greeting, 0);
    if (!connection.synchronised) return !connection.out.empty();

    std::size_t bytes = 0;
    // One piece is left for the ACK.
    while (connection.out.size() < kBatchPieces - 1 && bytes < kBatchBytes) {
        const std::uint64_t sequence = acknowledged_ + next_to_send_ + 1;
        const Bytes* frame = next_frame();
        if (frame == nullptr) break;
        connection.out.emplace_back(*frame, sequence);
        bytes += frame->size();
        ++stats_.frames_sent;
    }
    const bool acknowledge = connection.acknowledge_now || !connection.out.empty();
    if (acknowledge && connection.acknowledged_to_peer != last_received_) {
        connection.acknowledgement = encode_ack(last_received_);
        connection.acknowledged_to_peer = last_received_;
        connection.unacknowledged_bytes = 0;
        connection.out.emplace_back(connection.acknowledgement, 0);
    }
    connection.acknowledge_now = false;
    return !connection.out.empty();
}

void LinkCore::wake_writer() {
    if (connection_) connection_->wake.notify_one();
}

void LinkCore::acknowledge_soon(const std::shared_ptr<Connection>& connection, std::size_t bytes) {
    if (connection->acknowledged_to_peer == last_received_) return;
    connection->unacknowledged_bytes += bytes;
    if (connection->unacknowledged_bytes >= kAcknowledgeBytes) {
        connection->acknowledge_now = true;
        wake_writer();
        return;
    }
    if (connection->acknowledge_timer_armed) return;
    connection->acknowledge_timer_armed = true;
    connection->acknowledge_timer.expires_after(kAcknowledgeDelay);
    connection->acknowledge_timer.async_wait(
        [weak = weak_from_this(), connection](boost::system::error_code) {
            connection->acknowledge_timer_armed = false;
            const auto self = weak.lock();
            if (connection->stopped || !self) return;
            if (connection->acknowledged_to_peer == self->last_received_) return;
            connection->acknowledge_now = true;
            self->wake_writer();
        });
}

awaitable<void> LinkCore::write_pump(std::shared_ptr<LinkCore> self,
                                     std::shared_ptr<Connection> connection) {
    std::size_t since_yield = 0;
    while (!connection->stopped) {
        if (connection->out.empty() && !self->fill(*connection)) {
            since_yield = 0;
            co_await connection->wake.wait();
            continue;
        }
        const ssize_t sent = send_pieces(connection->descriptor.native_handle(),
                                         connection->is_socket, connection->out);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            co_await connection->descriptor.async_wait(
                boost::asio::posix::descriptor_base::wait_write, as_tuple(use_awaitable));
            since_yield = 0;
            continue;
        }
        if (sent < 0) {
            connection->failure = lost(error_from_errno(errno, "write to it").cause);
            self->end_connection(connection);
            co_return;
        }
        auto left = static_cast<std::size_t>(sent);
        self->stats_.bytes_sent += left;
        since_yield += left;
        while (left > 0) {
            Connection::Piece& piece = connection->out.front();
            if (left < piece.bytes.size()) {
                piece.bytes = piece.bytes.subspan(left);
                break;
            }
            left -= piece.bytes.size();
            if (piece.sequence > 0) connection->sent_through = piece.sequence;
            connection->out.pop_front();
        }
        if (since_yield >= kYieldBytes) {
            since_yield = 0;
            co_await boost::asio::post(self->executor_, use_awaitable);
        }
    }
}

// All whole frames that are in the decoder.
Result<void> LinkCore::decode(const std::shared_ptr<Connection>& connection) {
    FrameView frame;
    while (!connection->stopped) {
        switch (connection->decoder.next(frame)) {
            case FrameDecoder::Status::need_more:
                return {};
            case FrameDecoder::Status::garbage:
                // A guest finds zeros or the rest of a frame where a new host connected. What comes
                // from a guest after its greeting has no excuse.
                if (role_ == Role::guest) break;
                return fail(ErrorCode::guest_protocol, "guest link: bytes that are no frame");
            case FrameDecoder::Status::greeting: {
                CB_TRY_ASSIGN(accepted, on_greeting(*connection, frame));
                if (accepted) {
                    connection->decoder.accept();
                } else {
                    connection->decoder.reject();
                }
                break;
            }
            case FrameDecoder::Status::frame: {
                if (role_ == Role::guest && frame.type == FrameType::hello) {
                    CB_TRY(on_greeting(*connection, frame));
                    break;
                }
                CB_TRY(on_frame(*connection, frame));
                acknowledge_soon(connection, frame.payload.size());
                break;
            }
        }
    }
    return {};
}

awaitable<Error> LinkCore::read_pump(std::shared_ptr<LinkCore> self,
                                     std::shared_ptr<Connection> connection) {
    while (!connection->stopped) {
        const std::span<std::byte> space = connection->decoder.writable();
        const auto [error, count] = co_await connection->descriptor.async_read_some(
            boost::asio::buffer(space.data(), space.size()), as_tuple(use_awaitable));
        if (connection->stopped) break;
        if (error == boost::asio::error::operation_aborted) {
            co_return Error(ErrorCode::cancelled, "serving the guest link was cancelled");
        }
        if (error) co_return lost(error.message());
        self->stats_.bytes_received += count;
        connection->decoder.commit(count);
        const auto decoded = self->decode(connection);
        if (!decoded) co_return decoded.error();
    }
    co_return connection->failure ? *connection->failure : lost("it was closed here");
}

void LinkCore::end_connection(std::shared_ptr<Connection> connection) {
    if (connection->stopped) return;
    connection->stopped = true;
    connection->out.clear();
    connection->wake.notify_all();
    connection->acknowledge_timer.cancel();
    connection->greeting_timer.cancel();
    // release(), not close(): it takes the descriptor out of the loop's epoll set even if the
    // caller has a dup() of it. Pending waits end with operation_aborted.
    const Fd closing(connection->descriptor.release());
    if (connection_ != connection) return;
    connection_ = nullptr;
    // Writers may now use the spool.
    if (spool_.enabled()) {
        room_.notify_all();
        for (const auto& [id, stream] : streams_) stream->wake_writers();
    }
}

bool LinkCore::connected() const {
    return connection_ && connection_->synchronised;
}

// What the end of a connection means for the link.
Error LinkCore::after_connection(Error reason) {
    if (error_) return *error_;
    const bool may_come_back =
        reason.code == ErrorCode::connection_lost || reason.code == ErrorCode::cancelled;
    if (may_come_back) {
        log::debug("link_disconnected", {{"reason", reason.cause}});
    } else if (role_ == Role::host) {
        log::warning("link_closed", {{"reason", reason.cause}});
        close(reason);
    } else {
        // The guest must stay reachable: it forgets all, and the next HELLO begins a new session.
        log::error("link_session_dropped", {{"reason", reason.cause}});
        start_session(SessionId{}, reason);
        session_known_ = false;
    }
    return reason;
}

awaitable<Result<void>> LinkCore::run(std::shared_ptr<LinkCore> self, Fd fd) {
    if (self->error_) co_return fail(*self->error_);
    if (self->connection_) {
        co_return fail(ErrorCode::internal, "a guest link was given a second connection");
    }
    const auto is_socket = prepare_descriptor(fd.get());
    if (!is_socket) co_return fail(is_socket.error());
    const auto connection = std::make_shared<Connection>(
        self->executor_, self->role_ == Role::host ? FrameType::hello_reply : FrameType::hello);
    boost::system::error_code assigned;
    connection->descriptor.assign(fd.get(), assigned);
    if (assigned) co_return fail(ErrorCode::io, "the guest link: " + assigned.message());
    fd.release();
    connection->is_socket = *is_socket;
    self->connection_ = connection;
    boost::asio::co_spawn(self->executor_, write_pump(self, connection),
                          [connection](std::exception_ptr exception) {
                              if (exception) log::error("link_writer_failed");
                          });
    if (self->role_ == Role::host) self->greet(connection);

    Error reason;
    try {
        reason = co_await read_pump(self, connection);
    } catch (const boost::system::system_error&) {
        // Asio throws when a cancelled coroutine waits again.
        reason = Error(ErrorCode::cancelled, "serving the guest link was cancelled");
    }
    self->end_connection(connection);
    co_return fail(self->after_connection(std::move(reason)));
}

awaitable<Result<void>> LinkCore::wait_connected(std::shared_ptr<LinkCore> self,
                                                 Deadline deadline) {
    for (;;) {
        if (self->error_) co_return fail(*self->error_);
        if (self->connected()) co_return Result<void>();
        const WaitResult woken = co_await self->connected_.wait_until(deadline);
        if (woken == WaitResult::cancelled) {
            co_return fail(ErrorCode::cancelled, "waiting for the sandbox was cancelled");
        }
        if (woken == WaitResult::timed_out && !self->connected() && !self->error_) {
            co_return fail(ErrorCode::timeout, "the sandbox did not answer in time");
        }
    }
}

}  // namespace cellblock::vm::link
