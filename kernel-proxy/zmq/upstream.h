// The other end of a relayed kernel: the gateway's WebSocket, as its client has it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"

namespace cellblock::kernel_proxy::zmq_door {

// Nothing here waits: the relay's loop polls descriptor(). Messages are the v1 protocol's. It may
// lose its connection and make another one by itself; then what was sent before may not have come
// through, and what was received may come again.
class Upstream {
  public:
    virtual ~Upstream() = default;

    // Not always the same one.
    virtual int descriptor() const = 0;
    // Which connection it is, counted from 1.
    virtual std::uint64_t connection() const = 0;
    virtual bool wants_to_write() const = 0;
    // When it has to be looked after at the latest, by receive().
    virtual Deadline next_check() const = 0;
    // What waits to be written. While there is no connection, so much that nobody sends.
    virtual std::size_t waiting_bytes() const = 0;

    // Queues one message and writes what can be written.
    virtual Result<void> send(std::span<const ByteView> parts) = 0;
    virtual Result<void> flush() = 0;
    // The next message; std::nullopt: none for now. kernel_died when the gateway says that the
    // kernel is gone, connection_lost when it went away itself.
    virtual Result<std::optional<Bytes>> receive() = 0;
};

}  // namespace cellblock::kernel_proxy::zmq_door
