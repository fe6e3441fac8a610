#include "vm/link/codec.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace cellblock::vm::link {
namespace {

// Room for a whole frame and a large read behind it.
constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::size_t kBufferBytes = kReadBytes + kMaxFrameBytes;
// A HELLO of a newer version may be longer than ours.
constexpr std::size_t kGreetingMaxPayload = 1024;

void append(Bytes& to, ByteView bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

template <typename T>
void append_le(Bytes& to, T value) {
    std::array<std::byte, sizeof(T)> bytes;
    store_le<T>(bytes.data(), value);
    append(to, bytes);
}

struct Header {
    FrameType type;
    std::uint32_t stream;
    std::uint32_t payload_bytes;
    std::uint64_t sequence;
};

// Precondition: kHeaderBytes are there.
std::optional<Header> parse_header(ByteView bytes) {
    if (load_le<std::uint32_t>(bytes.data()) != kMagic) return std::nullopt;
    // The type byte with the three reserved bytes above it: one comparison checks all four.
    const auto type = load_le<std::uint32_t>(bytes.data() + 4);
    if (type < static_cast<std::uint32_t>(FrameType::hello) ||
        type > static_cast<std::uint32_t>(FrameType::credit)) {
        return std::nullopt;
    }
    Header header{static_cast<FrameType>(type), load_le<std::uint32_t>(bytes.data() + 8),
                  load_le<std::uint32_t>(bytes.data() + 12),
                  load_le<std::uint64_t>(bytes.data() + 16)};
    if (header.payload_bytes > kMaxPayload) return std::nullopt;
    return header;
}

tl::unexpected<Error> malformed_frame(std::string_view what) {
    return fail(ErrorCode::guest_protocol, "a malformed " + std::string(what) + " frame");
}

}  // namespace

void append_head(Bytes& frame, FrameType type, std::uint32_t stream, std::size_t payload_bytes) {
    std::array<std::byte, kHeaderBytes> head{};
    store_le<std::uint32_t>(head.data(), kMagic);
    head[4] = static_cast<std::byte>(type);
    store_le<std::uint32_t>(head.data() + 8, stream);
    store_le<std::uint32_t>(head.data() + 12, static_cast<std::uint32_t>(payload_bytes));
    append(frame, head);
}

void append_tail(Bytes& frame) {
    append_le<std::uint32_t>(frame, kEndMarker);
}

void set_sequence(Bytes& frame, std::uint64_t sequence) {
    store_le<std::uint64_t>(frame.data() + 16, sequence);
}

Bytes encode_frame(FrameType type, std::uint32_t stream, ByteView payload) {
    Bytes frame;
    frame.reserve(payload.size() + kFrameOverheadBytes);
    append_head(frame, type, stream, payload.size());
    append(frame, payload);
    append_tail(frame);
    return frame;
}

Bytes encode_hello(FrameType type, const Hello& hello) {
    Bytes payload;
    payload.reserve(kHelloBytes);
    append_le<std::uint32_t>(payload, hello.version);
    append_le<std::uint32_t>(payload, hello.resumed);
    append_le<std::uint64_t>(payload, hello.features);
    append_le<std::uint64_t>(payload, hello.last_received);
    append(payload, hello.nonce);
    append(payload, hello.session);
    return encode_frame(type, 0, payload);
}

Bytes encode_ack(std::uint64_t sequence) {
    std::array<std::byte, 8> payload;
    store_le<std::uint64_t>(payload.data(), sequence);
    return encode_frame(FrameType::ack, 0, payload);
}

Bytes encode_open(std::uint32_t stream, StreamKind kind, std::string_view params) {
    Bytes frame;
    frame.reserve(1 + params.size() + kFrameOverheadBytes);
    append_head(frame, FrameType::open, stream, 1 + params.size());
    frame.push_back(static_cast<std::byte>(kind));
    append(frame, as_bytes(params));
    append_tail(frame);
    return frame;
}

Bytes encode_reset(std::uint32_t stream, const Error& error) {
    const std::string_view code = to_string(error.code);
    const auto cause = std::string_view(error.cause).substr(0, limits::link_reset_text_max_bytes);
    const auto advice = std::string_view(error.advice).substr(0, limits::link_reset_text_max_bytes);
    Bytes payload;
    payload.push_back(static_cast<std::byte>(code.size()));
    append(payload, as_bytes(code));
    append_le<std::uint16_t>(payload, static_cast<std::uint16_t>(cause.size()));
    append(payload, as_bytes(cause));
    append(payload, as_bytes(advice));
    return encode_frame(FrameType::reset, stream, payload);
}

Bytes encode_credit(std::uint32_t stream, std::uint32_t bytes) {
    std::array<std::byte, 4> payload;
    store_le<std::uint32_t>(payload.data(), bytes);
    return encode_frame(FrameType::credit, stream, payload);
}

Result<Hello> decode_hello(ByteView payload) {
    if (payload.size() < kHelloBytes) return malformed_frame("HELLO");
    Hello hello;
    hello.version = load_le<std::uint32_t>(payload.data());
    hello.resumed = load_le<std::uint32_t>(payload.data() + 4);
    hello.features = load_le<std::uint64_t>(payload.data() + 8);
    hello.last_received = load_le<std::uint64_t>(payload.data() + 16);
    std::copy_n(payload.data() + 24, hello.nonce.size(), hello.nonce.data());
    std::copy_n(payload.data() + 40, hello.session.size(), hello.session.data());
    return hello;
}

Result<std::uint64_t> decode_ack(ByteView payload) {
    if (payload.size() != 8) return malformed_frame("ACK");
    return load_le<std::uint64_t>(payload.data());
}

Result<OpenView> decode_open(ByteView payload) {
    if (payload.empty()) return malformed_frame("OPEN");
    OpenView open;
    open.kind = static_cast<StreamKind>(payload[0]);
    open.params = as_text(payload.subspan(1));
    return open;
}

Result<Error> decode_reset(ByteView payload) {
    if (payload.empty()) return malformed_frame("RESET");
    const auto code_bytes = std::to_integer<std::size_t>(payload[0]);
    payload = payload.subspan(1);
    if (payload.size() < code_bytes + 2) return malformed_frame("RESET");
    const ErrorCode code = error_code_from(as_text(payload.first(code_bytes)));
    payload = payload.subspan(code_bytes);
    const std::size_t cause_bytes = load_le<std::uint16_t>(payload.data());
    payload = payload.subspan(2);
    if (payload.size() < cause_bytes) return malformed_frame("RESET");
    const ByteView advice = payload.subspan(cause_bytes);
    if (cause_bytes > limits::link_reset_text_max_bytes ||
        advice.size() > limits::link_reset_text_max_bytes) {
        return malformed_frame("RESET");
    }
    return Error(code, std::string(as_text(payload.first(cause_bytes))),
                 std::string(as_text(advice)));
}

Result<std::uint32_t> decode_credit(ByteView payload) {
    if (payload.size() != 4) return malformed_frame("CREDIT");
    return load_le<std::uint32_t>(payload.data());
}

FrameDecoder::FrameDecoder(FrameType greeting)
    : greeting_(greeting), buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {}

std::span<std::byte> FrameDecoder::writable() {
    if (begin_ == end_) {
        begin_ = end_ = 0;
    } else if (kBufferBytes - end_ < kReadBytes) {
        // At most one frame is incomplete (next() was called until need_more), so this makes room.
        std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    return std::span<std::byte>(buffer_.get() + end_, std::min(kReadBytes, kBufferBytes - end_));
}

void FrameDecoder::commit(std::size_t count) {
    end_ += count;
}

FrameDecoder::Status FrameDecoder::next(FrameView& frame) {
    if (hunting_) return hunt(frame);
    const ByteView bytes = pending();
    if (bytes.size() < kHeaderBytes) return Status::need_more;
    const auto header = parse_header(bytes);
    if (!header) {
        hunting_ = true;
        return Status::garbage;
    }
    const std::size_t frame_bytes = header->payload_bytes + kFrameOverheadBytes;
    if (bytes.size() < frame_bytes) return Status::need_more;
    begin_ += frame_bytes;
    if (load_le<std::uint32_t>(bytes.data() + frame_bytes - kTrailerBytes) != kEndMarker) {
        hunting_ = true;
        return Status::garbage;
    }
    frame.type = header->type;
    frame.stream = header->stream;
    frame.sequence = header->sequence;
    frame.payload = bytes.subspan(kHeaderBytes, header->payload_bytes);
    return Status::frame;
}

FrameDecoder::Status FrameDecoder::hunt(FrameView& frame) {
    for (;; ++begin_) {
        ByteView bytes = pending();
        if (bytes.empty()) return Status::need_more;
        // Padding is long: let memchr run over it.
        const void* first = std::memchr(bytes.data(), kMagic & 0xFF, bytes.size());
        if (first == nullptr) {
            begin_ = end_;
            return Status::need_more;
        }
        begin_ += static_cast<std::size_t>(static_cast<const std::byte*>(first) - bytes.data());
        bytes = pending();
        if (bytes.size() < kHeaderBytes) {
            // Too few bytes to judge, unless those that are there say no already.
            std::array<std::byte, 4> magic;
            store_le<std::uint32_t>(magic.data(), kMagic);
            const std::size_t known = std::min(bytes.size(), magic.size());
            if (std::memcmp(bytes.data(), magic.data(), known) != 0) continue;
            return Status::need_more;
        }
        const auto header = parse_header(bytes);
        if (!header || header->type != greeting_ || header->payload_bytes < kHelloBytes ||
            header->payload_bytes > kGreetingMaxPayload) {
            continue;
        }
        const std::size_t frame_bytes = header->payload_bytes + kFrameOverheadBytes;
        if (bytes.size() < frame_bytes) return Status::need_more;
        if (load_le<std::uint32_t>(bytes.data() + frame_bytes - kTrailerBytes) != kEndMarker) {
            continue;
        }
        greeting_bytes_ = frame_bytes;
        frame.type = header->type;
        frame.stream = header->stream;
        frame.sequence = header->sequence;
        frame.payload = bytes.subspan(kHeaderBytes, header->payload_bytes);
        return Status::greeting;
    }
}

void FrameDecoder::accept() {
    begin_ += greeting_bytes_;
    hunting_ = false;
}

void FrameDecoder::reject() {
    begin_ += 1;
}

}  // namespace cellblock::vm::link
