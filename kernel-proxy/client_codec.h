// The two ways in which Jupyter clients speak over a WebSocket, from and to our one list of frames.
//
//   legacy  text: {"header", "parent_header", "metadata", "content", "buffers": [], "channel",
//           "msg_id", "msg_type"}; with buffers binary: big-endian u32 count and offsets of the
//           parts, the first of which is that JSON without "buffers".
//   v1      "v1.kernel.websocket.jupyter.org": binary, little-endian u64 count and offsets, then
//   the
//           channel's name and the frames.
//
// Kernel bytes are never re-serialised: both encoders give slices of the message that they were
// given, both decoders slices of what arrived. What a client sends may be any bytes at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "kernel-proxy/message.h"

namespace cellblock::kernel_proxy {

enum class ClientProtocol { legacy, v1 };

inline constexpr std::string_view v1_protocol_name = "v1.kernel.websocket.jupyter.org";

// What a client sent: frames as for the link. Move-only; moving keeps the views valid.
struct ClientMessage {
    Channel channel = Channel::shell;
    Routing routing;
    std::vector<ByteView> frames;
    Bytes bytes;  // what the frames point into

    ClientMessage() = default;
    ClientMessage(ClientMessage&&) noexcept = default;
    ClientMessage& operator=(ClientMessage&&) noexcept = default;
    ClientMessage(const ClientMessage&) = delete;
    ClientMessage& operator=(const ClientMessage&) = delete;
};

// std::nullopt for what is to be passed over: an empty message, a channel that nobody knows.
// Legacy: text or binary is told by the first byte, because gateway clients send binary messages in
// text frames; a missing channel is shell, missing parts are empty objects.
Result<std::optional<ClientMessage>> decode_client_message(ClientProtocol protocol, Bytes bytes);

enum class FrameKind { text, binary };

// The parts, one after the other, are one WebSocket message. They point into the kernel's message
// and into `owned`: both must outlive them. Move-only.
struct EncodedMessage {
    FrameKind kind = FrameKind::binary;
    std::vector<ByteView> parts;
    std::vector<Bytes> owned;

    EncodedMessage() = default;
    EncodedMessage(EncodedMessage&&) noexcept = default;
    EncodedMessage& operator=(EncodedMessage&&) noexcept = default;
    EncodedMessage(const EncodedMessage&) = delete;
    EncodedMessage& operator=(const EncodedMessage&) = delete;

    std::size_t size_bytes() const;
};

// Legacy fails with guest_protocol when a frame is no JSON object: it would break the whole text.
Result<EncodedMessage> encode_for_client(ClientProtocol protocol, const KernelMessage& message);

}  // namespace cellblock::kernel_proxy
