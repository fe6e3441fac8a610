// WebSocket frames (RFC 6455) of both sides, without I/O: bytes in, messages out.
//
// Not Beast's: it checks text frames for UTF-8 and ends the connection, but gateway clients of
// Jupyter send binary messages in text frames; and it copies what we write piece by piece from a
// kernel's message. No extensions. Everything a client sends is bounded: memory grows with what has
// arrived, never with what a length announces.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "base/bytes.h"

namespace cellblock::gateway::http {

enum class Opcode : std::uint8_t {
    continuation = 0,
    text = 1,
    binary = 2,
    close = 8,
    ping = 9,
    pong = 10,
};

// Why a connection ends, as the close frame says it.
struct CloseReason {
    std::uint16_t code = 1000;
    std::string text;  // at most 123 bytes go out

    CloseReason() = default;
    CloseReason(std::uint16_t code_, std::string text_) : code(code_), text(std::move(text_)) {}
};

namespace close_code {
inline constexpr std::uint16_t normal = 1000;
inline constexpr std::uint16_t protocol_error = 1002;
inline constexpr std::uint16_t none_given = 1005;  // never sent
inline constexpr std::uint16_t invalid_payload = 1007;
inline constexpr std::uint16_t policy = 1008;
inline constexpr std::uint16_t too_big = 1009;
inline constexpr std::uint16_t internal_error = 1011;
inline constexpr std::uint16_t service_restart = 1012;
inline constexpr std::uint16_t try_again_later = 1013;
}  // namespace close_code

// A whole message (fragments put together), or a control frame.
struct WebSocketMessage {
    Opcode opcode = Opcode::text;
    Bytes payload;

    WebSocketMessage() = default;
};

using Mask = std::array<std::byte, 4>;

// Whose frames are read: a client masks its own, a server does not.
enum class Peer { client, server };

class WebSocketParser {
  public:
    explicit WebSocketParser(std::size_t message_max_bytes, Peer peer = Peer::client)
        : message_max_bytes_(message_max_bytes), peer_(peer) {}

    struct Step {
        std::size_t used = 0;
        std::optional<WebSocketMessage> message;
    };
    // Takes bytes of `input` up to the end of one message. An error is final: the connection is to
    // be closed with it.
    tl::expected<Step, CloseReason> step(ByteView input);

  private:
    using Checked = tl::expected<void, CloseReason>;

    std::size_t mask_bytes() const { return peer_ == Peer::client ? 4 : 0; }
    std::size_t head_bytes() const;
    Checked read_head();
    void take_payload(ByteView piece);
    WebSocketMessage take_message();

    const std::size_t message_max_bytes_;
    const Peer peer_;
    std::array<std::byte, 14> head_{};
    std::size_t head_have_ = 0;
    bool in_payload_ = false;
    // The frame.
    Opcode opcode_ = Opcode::text;
    bool final_ = false;
    std::uint64_t left_ = 0;  // of its payload
    Mask mask_{};
    std::size_t mask_at_ = 0;
    // What is put together: a message of fragments, between which control frames may come.
    std::optional<Opcode> fragmented_;
    Bytes message_;
    Bytes control_;
};

// The head of an unmasked, unfragmented frame.
struct FrameHead {
    std::array<std::byte, 10> bytes{};
    std::size_t size = 0;

    ByteView view() const { return ByteView(bytes).first(size); }
};
FrameHead frame_head(Opcode opcode, std::uint64_t payload_bytes);

// Appends a client's frame. The mask is to be random: it keeps what an attacker chose from being
// read as something else on the way (RFC 6455 10.3).
void append_masked_frame(Bytes& to, Opcode opcode, std::span<const ByteView> parts,
                         const Mask& mask);

Bytes close_payload(const CloseReason& reason);
// What the peer's close frame says; a protocol error when it is malformed.
tl::expected<CloseReason, CloseReason> read_close_payload(ByteView payload);

// The value of Sec-WebSocket-Accept; std::nullopt for a malformed key.
std::optional<std::string> accept_value(std::string_view key);

}  // namespace cellblock::gateway::http
