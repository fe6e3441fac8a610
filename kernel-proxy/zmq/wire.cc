#include "kernel-proxy/zmq/wire.h"

#include <algorithm>

#include "base/limits.h"
#include "vm/link/kernel_message.h"

namespace cellblock::kernel_proxy::zmq_door {
namespace {

using vm::link::kJsonFrames;

constexpr std::string_view delimiter = "<IDS|MSG>";

}  // namespace

Result<WireMessage> read_wire(std::span<const ByteView> parts, const Signer& signer) {
    const auto begin = parts.begin();
    const auto searched_end =
        begin + static_cast<std::ptrdiff_t>(
                    std::min(parts.size(), limits::zmq_identities_max + std::size_t{1}));
    const auto at = std::find_if(begin, searched_end,
                                 [](const ByteView part) { return as_text(part) == delimiter; });
    if (at == searched_end) return fail(ErrorCode::invalid_argument, "it has no delimiter");
    const std::span<const ByteView> rest(at + 1, parts.end());
    if (rest.size() < 1 + kJsonFrames || rest.size() > 1 + limits::kernel_message_frames_max) {
        return fail(ErrorCode::invalid_argument,
                    "it has " + std::to_string(rest.size()) + " frames after its delimiter");
    }
    const std::span<const ByteView> frames = rest.subspan(1);
    if (!signer.verify(frames.first(kJsonFrames), as_text(rest.front()))) {
        return fail(ErrorCode::unauthorized, "its signature is wrong");
    }
    WireMessage message;
    for (auto identity = begin; identity != at; ++identity) {
        message.identities.emplace_back(as_text(*identity));
    }
    message.frames.assign(frames.begin(), frames.end());
    return message;
}

std::vector<std::string> wire_head(const Identities& head, std::span<const ByteView> frames,
                                   const Signer& signer) {
    std::vector<std::string> parts(head.begin(), head.end());
    parts.emplace_back(delimiter);
    parts.push_back(signer.sign(frames.first(kJsonFrames)));
    return parts;
}

}  // namespace cellblock::kernel_proxy::zmq_door
