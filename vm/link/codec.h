// Frames as bytes: a sans-I/O encoder and decoder for protocol.h. No stream, no numbering, no
// policy.
//
// The decoder has one fixed buffer: nothing that the peer writes makes it allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "vm/link/protocol.h"

namespace cellblock::vm::link {

// --- encoding: a frame is head, payload, tail in one buffer --------------------------------------

// Appends the header for a payload of `payload_bytes`; the number is set later.
void append_head(Bytes& frame, FrameType type, std::uint32_t stream, std::size_t payload_bytes);
void append_tail(Bytes& frame);
void set_sequence(Bytes& frame, std::uint64_t sequence);
// Precondition: at most kMaxPayload bytes.
Bytes encode_frame(FrameType type, std::uint32_t stream, ByteView payload);

Bytes encode_hello(FrameType type, const Hello& hello);
Bytes encode_ack(std::uint64_t sequence);
Bytes encode_open(std::uint32_t stream, StreamKind kind, std::string_view params);
// Long texts are cut: limits::link_reset_text_max_bytes each.
Bytes encode_reset(std::uint32_t stream, const Error& error);
Bytes encode_credit(std::uint32_t stream, std::uint32_t bytes);

// --- decoding of payloads; guest_protocol when malformed -----------------------------------------

struct OpenView {
    StreamKind kind = StreamKind::call;
    std::string_view params;
};

Result<Hello> decode_hello(ByteView payload);
Result<std::uint64_t> decode_ack(ByteView payload);
Result<OpenView> decode_open(ByteView payload);
Result<Error> decode_reset(ByteView payload);
Result<std::uint32_t> decode_credit(ByteView payload);

// --- decoding of the stream ----------------------------------------------------------------------

struct FrameView {
    FrameType type = FrameType::data;
    std::uint32_t stream = 0;
    std::uint64_t sequence = 0;
    ByteView payload;  // valid until the decoder's next call
};

class FrameDecoder {
  public:
    enum class Status {
        need_more,  // read more bytes
        frame,      // `frame` is set
        greeting,   // hunting: `frame` is a HELLO or HELLO_REPLY; say accept() or reject()
        garbage,    // no frame is here; the decoder hunts for the next greeting
    };

    // Starts hunting for `greeting` (FrameType::hello or hello_reply).
    explicit FrameDecoder(FrameType greeting);

    // Where the next bytes go (never empty), and how many came.
    std::span<std::byte> writable();
    void commit(std::size_t count);

    Status next(FrameView& frame);
    // The greeting is the one: what follows it are frames.
    void accept();
    // It is not (a stale one, or payload that looks like one): go on hunting inside it.
    void reject();

  private:
    Status hunt(FrameView& frame);
    ByteView pending() const { return ByteView(buffer_.get() + begin_, end_ - begin_); }

    FrameType greeting_;
    std::unique_ptr<std::byte[]> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t greeting_bytes_ = 0;
    bool hunting_ = true;
};

}  // namespace cellblock::vm::link
