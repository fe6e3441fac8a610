// One connection of a LinkCore: its descriptor, its decoder, and what is being written. Internal.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "vm/link/link_core.h"

namespace cellblock::vm::link {

struct LinkCore::Connection {
    // Bytes on their way, in a buffer that stays where it is until they are written.
    struct Piece {
        ByteView bytes;
        std::uint64_t sequence;  // of the frame; 0 for greetings and ACKs
        Piece(ByteView bytes_, std::uint64_t sequence_) : bytes(bytes_), sequence(sequence_) {}
    };

    Connection(boost::asio::any_io_executor executor, FrameType greeting)
        : descriptor(executor),
          decoder(greeting),
          wake(executor),
          acknowledge_timer(executor),
          greeting_timer(executor) {}

    boost::asio::posix::stream_descriptor descriptor;
    bool is_socket = false;
    bool stopped = false;
    bool synchronised = false;
    std::optional<Error> failure;  // why the writer ended the connection
    FrameDecoder decoder;
    std::optional<Nonce> nonce;

    // Writing. `out` is only filled when it is empty, in whole frames.
    std::deque<Piece> out;
    Bytes greeting_pending;  // goes out next
    Bytes greeting;          // in `out`
    Bytes acknowledgement;   // in `out`
    std::uint64_t sent_through = 0;
    WaitList wake;

    // Acknowledging: at once after many bytes, else within a few milliseconds, or with other
    // frames.
    std::uint64_t acknowledged_to_peer = 0;
    std::size_t unacknowledged_bytes = 0;
    bool acknowledge_now = false;
    bool acknowledge_timer_armed = false;
    boost::asio::steady_timer acknowledge_timer;
    boost::asio::steady_timer greeting_timer;
    std::chrono::milliseconds greeting_interval{100};
};

}  // namespace cellblock::vm::link
