// Fuzzes the codec of Jupyter messages: what decodes must encode to the same bytes.
#include <cstdint>
#include <cstdlib>

#include "vm/link/kernel_message.h"

using namespace cellblock;
using namespace cellblock::vm::link;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    const Bytes input(bytes, bytes + size);
    const auto message = KernelMessage::decode(input);
    if (!message) return 0;
    auto again = encode_kernel_message_head(message->channel(), message->frames());
    if (!again) std::abort();
    for (const ByteView frame : message->frames()) {
        again->insert(again->end(), frame.begin(), frame.end());
    }
    if (*again != input) std::abort();
    return 0;
}
