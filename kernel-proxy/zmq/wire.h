// Jupyter's messages on ZeroMQ sockets, from and to our one list of frames:
//
//   identities..., "<IDS|MSG>", signature, header, parent_header, metadata, content, buffers...
//
// Read in the safe order: number of frames, length of the signature, HMAC, and only then does
// anybody parse. (xeus' own deserializer parses first, and reads past short signatures.) Frames are
// passed on as bytes: signed anew, never re-serialised. Pure; what a peer sends may be any bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "kernel-proxy/zmq/signer.h"

namespace cellblock::kernel_proxy::zmq_door {

// Whom a reply goes to: what a ROUTER put before the message.
using Identities = std::vector<std::string>;

struct WireMessage {
    Identities identities;
    std::vector<ByteView> frames;  // header, parent_header, metadata, content, buffers...

    WireMessage() = default;
};

// The frames point into `parts`. invalid_argument for a message without delimiter or with too few
// or too many frames, unauthorized for one whose signature is not ours.
Result<WireMessage> read_wire(std::span<const ByteView> parts, const Signer& signer);

// The parts that precede `frames` on the wire; `head` are the identities, or the topic on iopub.
std::vector<std::string> wire_head(const Identities& head, std::span<const ByteView> frames,
                                   const Signer& signer);

}  // namespace cellblock::kernel_proxy::zmq_door
