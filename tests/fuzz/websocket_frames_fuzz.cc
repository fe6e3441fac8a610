// Fuzzes the parser of WebSocket frames: the same messages come out, however the bytes are cut.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gateway/http/websocket_frames.h"

using namespace cellblock;
using namespace cellblock::gateway::http;

namespace {

constexpr std::size_t message_max_bytes = 4096;

struct Heard {
    std::vector<std::pair<Opcode, Bytes>> messages;
    int error = 0;
    bool operator==(const Heard&) const = default;
};

Heard hear(ByteView input, std::size_t piece) {
    WebSocketParser parser(message_max_bytes);
    Heard heard;
    while (!input.empty()) {
        const auto step = parser.step(input.first(std::min(piece, input.size())));
        if (!step) {
            heard.error = step.error().code;
            return heard;
        }
        if (step->used == 0 && !step->message) std::abort();
        input = input.subspan(step->used);
        if (!step->message) continue;
        if (step->message->payload.size() > message_max_bytes) std::abort();
        if (step->message->opcode == Opcode::close) {
            const auto reason = read_close_payload(step->message->payload);
            if (reason && close_payload(*reason) != step->message->payload) std::abort();
        }
        heard.messages.emplace_back(step->message->opcode, step->message->payload);
    }
    return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteView input(reinterpret_cast<const std::byte*>(data), size);
    const Heard whole = hear(input, std::max<std::size_t>(size, 1));
    for (const std::size_t piece : {1, 3, 16}) {
        if (hear(input, piece) != whole) std::abort();
    }
    return 0;
}
