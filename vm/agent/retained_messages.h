// What a kernel said and its host has not confirmed yet, by position, so that a host that takes
// over goes on where the last one had got to.
//
// Positions count the messages up from 1; a host that begins anew begins at 1 again. Bounded: when
// the kept ones have limit bytes, nothing more is taken from the kernel, which is then paced.
// Owner: HostRelay. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "base/limits.h"
#include "vm/agent/zmq_channel.h"
#include "vm/link/kernel_message.h"

namespace cellblock::vm::agent {

// Per kernel: minutes of a talkative cell, while no gateway is there.
inline constexpr std::size_t retained_max_bytes = 32 * limits::MiB;

class RetainedMessages {
  public:
    struct Entry {
        link::Channel channel;
        Multipart message;
        std::size_t bytes;
        Entry(link::Channel channel_, Multipart message_)
            : channel(channel_), message(std::move(message_)), bytes(byte_count(message)) {}
    };

    // Forgets all; the next message is number 1.
    void begin_anew();
    // The host has everything up to `position`; what is kept of the rest is to be sent (again).
    // False: what comes next is not here any more, or never was.
    bool resume_after(std::uint64_t position);

    bool has_room() const { return bytes_ < retained_max_bytes; }
    void add(link::Channel channel, Multipart message);
    // The first that was not sent; null when there is none. It may be held beyond its removal.
    std::shared_ptr<const Entry> next() const;
    void mark_sent() { ++sent_; }
    // It cannot be sent, and counts for nothing.
    void drop_next();
    // Up to `position`; what was not sent cannot be confirmed.
    void acknowledge(std::uint64_t position);

  private:
    void drop_through(std::uint64_t position);

    std::deque<std::shared_ptr<const Entry>> entries_;
    std::uint64_t before_ = 0;  // position before the first entry
    std::size_t sent_ = 0;      // entries given to the present stream
    std::size_t bytes_ = 0;
};

}  // namespace cellblock::vm::agent
