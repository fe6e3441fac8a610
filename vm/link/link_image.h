// One end of a guest link as it is at one moment, as values.
//
// A machine that is copied while its guest stands still (a fork) holds the guest's end of the
// session; this is the host's end of the same moment. A Link made from it resumes the session with
// the copy exactly where the original was: what was in flight is sent again by either end, nothing
// is lost, nothing doubled, and the original does not notice. Consistent whenever it was taken
// between the guest's stop and its going on: a host has never received more than its guest sent.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "vm/link/protocol.h"

namespace cellblock::vm::link {

struct StreamImage {
    std::uint32_t id = 0;
    StreamKind kind = StreamKind::call;
    std::string params;
    // Sending.
    std::size_t credit = 0;
    std::vector<Bytes> ready;
    bool end_queued = false;
    bool end_sent = false;
    // The rest of a message is in the hands of a writer that waits for credit: the copy cannot go
    // on with it.
    bool half_written = false;
    // Receiving.
    std::size_t window = 0;
    std::size_t unreturned = 0;
    std::vector<Bytes> inbox;
    std::size_t inbox_offset = 0;
    bool end_received = false;
    bool discarding = false;
    std::array<std::byte, 4> prefix{};
    std::size_t prefix_bytes = 0;
    std::size_t message_bytes = 0;
    Bytes message;

    StreamImage() = default;
};

struct LinkImage {
    struct Frame {
        Bytes bytes;
        bool is_control = false;
        Frame(Bytes bytes_, bool is_control_) : bytes(std::move(bytes_)), is_control(is_control_) {}
    };

    SessionId session{};
    bool session_known = false;
    std::uint32_t next_id = 0;
    std::uint32_t highest_peer_id = 0;
    std::uint64_t last_numbered = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t last_received = 0;
    std::vector<Frame> unacknowledged;  // numbers acknowledged+1 ... last_numbered
    std::vector<Bytes> control;         // not numbered yet
    std::vector<StreamImage> streams;

    LinkImage() = default;
};

}  // namespace cellblock::vm::link
