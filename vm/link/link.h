// The guest link: many streams over one byte stream that may break and come back.
//
// Both ends use this class; the role decides who says HELLO first and whether the peer is trusted.
// The host treats the guest as hostile: whatever no honest guest sends closes the Link with
// guest_protocol.
//
//   Link link(executor, Role::host, LinkOptions());
//   while (!link.closed()) {                        // one connection after the other
//       auto ended = co_await link.run(std::move(fd));
//       ... reconnect after connection_lost ...
//   }
//   StreamPtr stream = link.open(StreamKind::kernel, R"({"kernel_id":"default"})");
//
// Streams may be opened and written before the first connection and between connections: they wait.
// Nothing is lost, doubled or reordered by a reconnection; only close() and a new session end
// streams.
//
// Owner: the Machine (host), the agent (guest). Loop thread only, no locks. Destroying the Link
// closes it; a run() that is still suspended then ends by itself, and Streams may outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "vm/link/protocol.h"
#include "vm/link/stream.h"

namespace cellblock::vm::link {

enum class Role { host, guest };

struct LinkOptions {
    // Streams that the peer may have open at once; one more is guest_protocol.
    std::size_t peer_streams_max = limits::link_streams_max;
    // Numbered frames kept for a new connection; writers wait for room.
    std::size_t unacknowledged_max_bytes = limits::link_unacknowledged_max_bytes;
    // Guest: an open file (read and write, unlinked) that takes what streams write while the host
    // is away and credit has run out, so that a running cell goes on. Without one, or past the
    // limit, writers wait.
    Fd spool;
    std::size_t spool_max_bytes = limits::link_spool_max_bytes;

    LinkOptions() {}  // not an aggregate: safe beside co_await
};

struct LinkStats {
    std::uint64_t frames_sent = 0;
    std::uint64_t frames_received = 0;
    std::uint64_t bytes_sent = 0;  // on the wire
    std::uint64_t bytes_received = 0;
    std::uint64_t frames_retransmitted = 0;
    std::uint64_t duplicates_dropped = 0;
    std::uint64_t connections = 0;   // handshakes that succeeded
    std::uint64_t sessions = 0;      // guest: how often a new host took over
    std::size_t buffered_bytes = 0;  // queued or unacknowledged
    std::size_t spooled_bytes = 0;
    std::size_t streams_open = 0;
};

class LinkCore;    // link_core.h
struct LinkImage;  // link_image.h

class Link {
  public:
    Link(boost::asio::any_io_executor executor, Role role, LinkOptions options);
    // Goes on where `image` was taken from an end of the same role, with a copy of its peer.
    Link(boost::asio::any_io_executor executor, Role role, LinkOptions options,
         const LinkImage& image);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();

    // Serves one connection: handshake, then frames both ways, until it ends. Always returns an
    // error, which says why: connection_lost: call run() again with a new connection (`cancelled`
    // when the coroutine was cancelled, the same applies). Any other code: closed() is true, except
    // in the guest role, which forgets its session instead and waits for the next HELLO in the next
    // run(). Only one run() at a time.
    //
    // `connection` is a Unix socket or a character device, and is made non-blocking. It is closed
    // at the end; a guest that keeps its port open (reopening throws away what waits in it) passes
    // a dup(). At the end of file a guest should wait some 20 ms before it calls run() again: a
    // virtio-serial port without a host is readable for ever.
    //
    // Host: the handshake takes as long as the guest needs to boot; bound it with wait_connected().
    boost::asio::awaitable<Result<void>> run(Fd connection);

    // A new stream; usable at once. After close(), with 1024 open streams, or when the peer does
    // not take the frames that open and reset streams, its operations fail (error() is set).
    // `params` is JSON text of at most limits::link_params_max_bytes - 1.
    StreamPtr open(StreamKind kind, std::string params);
    // Called on the loop for each stream that the peer opens; dropping the pointer refuses it.
    // Without a handler streams are refused (not_supported). Set it before run().
    void on_stream(std::function<void(StreamPtr)> handler);
    // Guest: called when a new host has taken over (also the first one), after all streams of the
    // old session were reset. The place to open the `events` stream and to send what a host must
    // know.
    void on_new_session(std::function<void()> handler);

    // This end as values, for a copy (link_image.h).
    LinkImage image() const;
    // The streams that the image had, once. Those that nobody keeps are reset, as any dropped
    // stream.
    std::vector<StreamPtr> take_inherited();

    bool connected() const;
    // Ends the connection, not the session: run() returns, and may be called again.
    void disconnect();
    // Resumes once connected() is true; `timeout` at the deadline, or the error that closed the
    // link.
    boost::asio::awaitable<Result<void>> wait_connected(Deadline deadline);

    // Ends the link for good: all streams and waiting operations fail with `reason`. Idempotent.
    void close(Error reason);
    bool closed() const;
    // Why it closed.
    const std::optional<Error>& error() const;
    LinkStats stats() const;

  private:
    std::shared_ptr<LinkCore> core_;
};

}  // namespace cellblock::vm::link
