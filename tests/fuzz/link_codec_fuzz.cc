// Fuzzes the guest link's decoder: any bytes, in pieces of any size, and every payload decoder.
// The first byte chooses the pieces, the rest is what the peer sends.
#include <algorithm>
#include <cstdint>

#include "vm/link/codec.h"

using namespace cellblock;
using namespace cellblock::vm::link;

namespace {

void decode_payload(const FrameView& frame) {
    switch (frame.type) {
        case FrameType::hello:
        case FrameType::hello_reply:
            (void)decode_hello(frame.payload);
            break;
        case FrameType::ack:
            (void)decode_ack(frame.payload);
            break;
        case FrameType::open:
            (void)decode_open(frame.payload);
            break;
        case FrameType::reset:
            (void)decode_reset(frame.payload);
            break;
        case FrameType::credit:
            (void)decode_credit(frame.payload);
            break;
        case FrameType::data:
        case FrameType::end:
            break;
    }
}

void run(FrameType greeting, std::size_t piece_bytes, ByteView wire) {
    FrameDecoder decoder(greeting);
    FrameView frame;
    std::size_t greetings = 0;
    while (!wire.empty()) {
        const auto space = decoder.writable();
        const std::size_t count = std::min({space.size(), piece_bytes, wire.size()});
        std::copy_n(wire.begin(), count, space.begin());
        decoder.commit(count);
        wire = wire.subspan(count);
        for (;;) {
            const auto status = decoder.next(frame);
            if (status == FrameDecoder::Status::need_more) break;
            if (status == FrameDecoder::Status::garbage) continue;
            decode_payload(frame);
            if (status != FrameDecoder::Status::greeting) continue;
            if (++greetings % 3 == 0) {
                decoder.reject();
            } else {
                decoder.accept();
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t piece_bytes = data[0] == 0 ? 1 : data[0] * std::size_t{97};
    const ByteView wire(reinterpret_cast<const std::byte*>(data + 1), size - 1);
    run(FrameType::hello, piece_bytes, wire);
    run(FrameType::hello_reply, piece_bytes, wire);
    for (int type = 1; type <= 8; ++type) {
        FrameView frame;
        frame.type = static_cast<FrameType>(type);
        frame.payload = wire.first(std::min(wire.size(), kMaxPayload));
        decode_payload(frame);
    }
    return 0;
}
