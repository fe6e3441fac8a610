// The handshake: HELLO, HELLO_REPLY, and whether the session goes on (protocol.h tells why).
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "vm/link/link_connection.h"
#include "vm/link/link_core.h"

namespace cellblock::vm::link {
namespace {

// A HELLO may be lost while the guest opens its port, and its answer too when the guest's kernel
// has not heard of the host yet. Saying it again costs 64 KiB, so soon at first and then seldom: a
// clone answers within milliseconds, a guest that boots within a minute.
constexpr std::chrono::milliseconds kGreetingIntervalMax{2000};

Error version_mismatch(std::uint32_t peers) {
    return Error(ErrorCode::not_supported,
                 "the other end of the guest link speaks version " + std::to_string(peers) +
                     ", this one " + std::to_string(kVersion),
                 "build the template anew with this version of cellblock");
}

}  // namespace

// Host: padding and HELLO, now and again until the guest answers.
void LinkCore::greet(const std::shared_ptr<Connection>& connection) {
    if (connection->stopped || connection->synchronised) return;
    if (!connection->nonce) fill_random(connection->nonce.emplace().data(), sizeof(Nonce));
    if (connection->out.empty() && connection->greeting_pending.empty()) {
        Hello hello;
        hello.last_received = last_received_;
        hello.nonce = *connection->nonce;
        hello.session = session_;
        const Bytes frame = encode_hello(FrameType::hello, hello);
        connection->greeting_pending.assign(kPaddingBytes, std::byte{0});
        connection->greeting_pending.insert(connection->greeting_pending.end(), frame.begin(),
                                            frame.end());
        wake_writer();
    }
    connection->greeting_timer.expires_after(connection->greeting_interval);
    connection->greeting_interval =
        std::min(connection->greeting_interval * 2, kGreetingIntervalMax);
    connection->greeting_timer.async_wait(
        [weak = weak_from_this(), connection](boost::system::error_code error) {
            const auto self = weak.lock();
            if (!error && self) self->greet(connection);
        });
}

Result<bool> LinkCore::on_greeting(Connection& connection, const FrameView& frame) {
    CB_TRY_ASSIGN(hello, decode_hello(frame.payload));
    return role_ == Role::guest ? on_hello(connection, hello) : on_hello_reply(connection, hello);
}

Result<bool> LinkCore::on_hello(Connection& connection, const Hello& hello) {
    if (connection.nonce == hello.nonce) return true;  // a repetition that crossed our answer
    connection.nonce = hello.nonce;
    // Whatever was half-way out is void: the host drops everything before the reply.
    connection.out.clear();
    connection.greeting.clear();

    Hello reply;
    reply.nonce = hello.nonce;
    reply.session = hello.session;
    const bool same_version = hello.version == kVersion;
    const bool resumed = same_version && session_known_ && session_ == hello.session &&
                         resume(connection, hello.last_received);
    if (same_version && !resumed) {
        start_session(hello.session, Error(ErrorCode::connection_lost,
                                           "a new host has taken over this sandbox's link"));
        session_known_ = true;
        connection.sent_through = 0;
    }
    reply.resumed = resumed ? 1 : 0;
    reply.last_received = last_received_;
    connection.greeting_pending = encode_hello(FrameType::hello_reply, reply);
    connection.acknowledged_to_peer = last_received_;
    wake_writer();
    if (!same_version) {
        log::error("link_version_mismatch", {{"host_version", hello.version}});
        connection.synchronised = false;
        return false;
    }
    synchronised(connection);
    if (!resumed) {
        ++stats_.sessions;
        if (session_handler) session_handler();
    }
    return true;
}

Result<bool> LinkCore::on_hello_reply(Connection& connection, const Hello& hello) {
    if (!connection.nonce || *connection.nonce != hello.nonce || hello.session != session_) {
        return false;
    }
    if (hello.version != kVersion) return fail(version_mismatch(hello.version));
    if (session_known_ && hello.resumed == 0) {
        return fail(ErrorCode::guest_protocol, "guest link: the guest has lost its state");
    }
    if (!resume(connection, hello.last_received)) {
        return fail(ErrorCode::guest_protocol, "guest link: the guest resumes where it never was");
    }
    session_known_ = true;
    synchronised(connection);
    return true;
}

// Sends again what the peer does not have. False: it cannot have been there. Leaves `out` alone: at
// the host it may hold the rest of a repeated HELLO, which must not be cut.
bool LinkCore::resume(Connection& connection, std::uint64_t peers_last_received) {
    if (peers_last_received < acknowledged_ || peers_last_received > last_numbered_) return false;
    next_to_send_ = 0;
    acknowledged_through(peers_last_received);
    connection.sent_through = peers_last_received;
    stats_.frames_retransmitted += unacknowledged_.size();
    return true;
}

void LinkCore::synchronised(Connection& connection) {
    connection.synchronised = true;
    connection.greeting_timer.cancel();
    connection.acknowledged_to_peer = last_received_;
    ++stats_.connections;
    log::debug("link_connected",
               {{"last_received", last_received_}, {"retransmitting", unacknowledged_.size()}});
    connected_.notify_all();
    wake_writer();
}

}  // namespace cellblock::vm::link
