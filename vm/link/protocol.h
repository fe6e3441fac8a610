// The guest link's wire protocol: the constants and the history of its versions.
//
// One byte stream (a virtio-serial port, a vsock or a Unix socket) carries frames both ways:
//
//   offset size  field (integers are little-endian)
//        0    4  magic            kMagic
//        4    1  type             FrameType
//        5    3  reserved         zero
//        8    4  stream           0 for frames of the link itself
//       12    4  payload length   at most limits::link_frame_payload_max_bytes
//       16    8  sequence number  0 for HELLO, HELLO_REPLY and ACK, else 1, 2, 3 ... per direction
//       24    n  payload
//     24+n    4  end marker       kEndMarker, no byte of it is zero
//
// Synchronisation. The stream may lose whatever was in flight when the host's end went away, and
// the guest may learn of it late or never. So the host begins every connection with kPaddingBytes
// of zeros and a HELLO. A guest in the middle of a frame takes the zeros for the rest of it, sees
// that the end marker is missing, drops the frame and looks for the HELLO. The guest answers
// HELLO_REPLY with the HELLO's nonce; the host drops every byte before that. Only the host pads: it
// always starts afresh, so it can never sit inside a half frame. The host repeats padding and HELLO
// (same nonce) until it is answered; a guest ignores a repetition.
//
// Reliability. Numbered frames are kept until the peer's cumulative ACK; both HELLOs carry the last
// number received, and what is missing is sent again. Numbers at or below the last received one are
// dropped, a gap is an error.
//
// Sessions. HELLO has a session id that the host's Link chose at random. A guest that knows the id
// resumes; for another id (a new host process, or the first connection of a clone) it resets all
// its streams and both directions start at sequence number 1. HELLO_REPLY says which happened.
//
// Streams. The host opens odd ids, the guest even ones, each in rising order, never again. Each
// direction of a stream starts with kInitialWindow bytes of credit for DATA payloads; CREDIT gives
// back what the reader took. END closes one direction; RESET closes both. Frames for a stream that
// is closed on the receiver's side are ignored: they crossed its END or RESET.
//
// Version history (kVersion). A template outlives the daemon that made it: any change that an older
// peer cannot ignore gets a new version, and the version is part of the template's key.
//   1  the first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/limits.h"

namespace cellblock::vm::link {

inline constexpr std::uint32_t kVersion = 1;
// Additions that a peer may lack, one bit each; both ends use what both have. None yet.
inline constexpr std::uint64_t kFeatures = 0;

inline constexpr std::uint32_t kMagic = 0xC31BB10C;
inline constexpr std::uint32_t kEndMarker = 0xE5D1E5D1;
inline constexpr std::size_t kHeaderBytes = 24;
inline constexpr std::size_t kTrailerBytes = 4;
inline constexpr std::size_t kFrameOverheadBytes = kHeaderBytes + kTrailerBytes;
inline constexpr std::size_t kMaxPayload = limits::link_frame_payload_max_bytes;
inline constexpr std::size_t kMaxFrameBytes = kMaxPayload + kFrameOverheadBytes;
// Ends any half frame, whatever length its header claims.
inline constexpr std::size_t kPaddingBytes = kMaxFrameBytes + 36;
static_assert(kPaddingBytes > kMaxFrameBytes);

inline constexpr std::uint32_t kInitialWindow = limits::link_stream_window_bytes;

enum class FrameType : std::uint8_t {
    hello = 1,        // Hello; host to guest
    hello_reply = 2,  // Hello; guest to host
    ack = 3,          // u64: every number up to this one has arrived
    open = 4,         // u8 StreamKind, then the parameters (JSON text)
    data = 5,         // 1 to kMaxPayload bytes
    end = 6,          // empty
    reset = 7,        // u8 length, ErrorCode's name; u16 length, cause; the rest is the advice
    credit = 8,       // u32: more bytes that the receiver of this frame may send
};

enum class StreamKind : std::uint8_t {
    call = 1,    // host opens: one JSON message each way (vm/link/call.h)
    kernel = 2,  // host opens with {"kernel_id"}: Jupyter messages (vm/link/kernel_message.h)
    file_read =
        3,  // host opens with {"path","offset"?,"length"?}: one JSON message, then raw bytes
    file_write = 4,  // host opens with {"path","mode"?,...}: raw bytes, then one JSON message back
    process = 5,     // a command in the guest
    tcp = 6,         // a TCP connection, opened by either end
    events = 7,      // guest opens once per session: JSON messages
};

// "call", "kernel", ...; "unknown" for a number that this version does not know.
std::string_view to_string(StreamKind kind);

using Nonce = std::array<std::byte, 16>;
using SessionId = std::array<std::byte, 16>;

// The payload of HELLO and HELLO_REPLY, fields in this order.
struct Hello {
    std::uint32_t version = kVersion;
    std::uint32_t resumed = 0;  // HELLO_REPLY: 1 when the guest knew the session; HELLO: 0
    std::uint64_t features = kFeatures;
    std::uint64_t last_received = 0;  // the last sequence number that arrived
    Nonce nonce{};
    SessionId session{};
};
inline constexpr std::size_t kHelloBytes = 4 + 4 + 8 + 8 + 16 + 16;

}  // namespace cellblock::vm::link
