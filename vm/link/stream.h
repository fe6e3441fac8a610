// One stream of a guest link: an ordered, reliable pipe of bytes each way, with back-pressure.
//
// Owner: whoever holds the StreamPtr. Dropping the last one resets the stream (`cancelled`) unless
// both directions have ended; data that was written and finished before is still delivered. A
// Stream may outlive its Link: its operations then fail. Loop thread only.
//
// Any number of coroutines may write at once: each write() and each write_message() goes out whole,
// in the order of the calls. At most one coroutine reads at a time (a second one gets `internal`).
//
// Cancellation (asio) is safe everywhere and gives `cancelled`. A cancelled read loses nothing: the
// next one goes on. A write that is cancelled after a part of it was queued resets the stream,
// because the reader could not find the next message; before that the stream stays usable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "vm/link/protocol.h"

namespace cellblock::vm::link {

class StreamState;  // stream_state.h, shared with the Link

class Stream {
  public:
    explicit Stream(std::shared_ptr<StreamState> state);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    std::uint32_t id() const;
    StreamKind kind() const;
    // What open() was called with, on both ends: JSON text, not checked.
    const std::string& params() const;

    // The next bytes, at least one; empty at the peer's END. What arrived before a RESET, or before
    // the link closed, is given out first, and then the error.
    boost::asio::awaitable<Result<Bytes>> read_some();
    // Completes when all is queued or on its way: waits for the peer's credit and for room in the
    // link's buffer, across a lost connection too. `data` must stay valid until then.
    boost::asio::awaitable<Result<void>> write(ByteView data);
    // No more writes: the peer reads END after the last byte. Does not wait for the peer.
    // Idempotent.
    boost::asio::awaitable<Result<void>> finish();
    // Ends both directions at once, drops what was not sent or not read, tells the peer `reason`;
    // all pending and later operations on this end fail with it. No effect on a stream that has
    // ended.
    void reset(Error reason);
    // Set once the stream was reset (by either end) or the link closed.
    const std::optional<Error>& error() const;

    // Messages on the stream: a u32 length, then that many bytes. A stream carries messages or raw
    // bytes, or messages first and raw bytes after them (file_read).
    //
    // std::nullopt at END between messages; END inside one is connection_lost; a message over
    // `max_bytes` is too_large and resets the stream. Memory grows with what arrived, never with
    // what the length claims.
    boost::asio::awaitable<Result<std::optional<Bytes>>> read_message(std::size_t max_bytes);
    // The parts, one after the other, are one message; they must stay valid until this completes.
    boost::asio::awaitable<Result<void>> write_message(std::span<const ByteView> parts);
    boost::asio::awaitable<Result<void>> write_message(ByteView message);

  private:
    std::shared_ptr<StreamState> state_;
};

using StreamPtr = std::shared_ptr<Stream>;

}  // namespace cellblock::vm::link
