// "v1.kernel.websocket.jupyter.org": binary WebSocket messages, little-endian u64 count and
// offsets, then the channel's name and the frames. Both ends of it: the gateway's for its clients,
// and a client's for what relays a kernel over ZeroMQ. Pure; what is decoded may be any bytes at
// all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace cellblock::kernel_proxy {

// Views into the bytes that were decoded. At least the four JSON frames, which are not looked into.
struct V1Message {
    std::string_view channel;  // any text
    std::vector<ByteView> frames;

    V1Message() = default;
};

// invalid_argument for anything but the layout above.
Result<V1Message> decode_v1_message(ByteView bytes);

// What precedes the frames: the offsets and the channel's name.
Bytes encode_v1_head(std::string_view channel, std::span<const ByteView> frames);

// The parts between `offsets` (as they came), which follow a table of that size; nothing when one
// points outside or back. Of both WebSocket protocols.
std::optional<std::vector<ByteView>> cut_at_offsets(ByteView bytes, std::size_t table_bytes,
                                                    const std::vector<std::uint64_t>& offsets);

}  // namespace cellblock::kernel_proxy
