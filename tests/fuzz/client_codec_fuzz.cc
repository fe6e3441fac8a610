// Fuzzes both WebSocket codecs of Jupyter clients. The first byte chooses the protocol; what
// decodes must hold still when it goes through the other direction.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "kernel-proxy/client_codec.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;

namespace {

Bytes whole(const EncodedMessage& message) {
    Bytes all;
    for (const ByteView part : message.parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

bool same(const std::vector<ByteView>& a, const std::vector<ByteView>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](ByteView x, ByteView y) { return as_text(x) == as_text(y); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto protocol = (data[0] & 1) != 0 ? ClientProtocol::v1 : ClientProtocol::legacy;
    const auto* bytes = reinterpret_cast<const std::byte*>(data + 1);
    const auto decoded = decode_client_message(protocol, Bytes(bytes, bytes + size - 1));
    if (!decoded || !*decoded) return 0;
    const ClientMessage& message = **decoded;
    const auto kernel = make_kernel_message(message.channel, message.frames);
    if (!kernel) std::abort();
    for (const auto way : {ClientProtocol::v1, ClientProtocol::legacy}) {
        const auto encoded = encode_for_client(way, *kernel);
        if (!encoded && way == ClientProtocol::v1) std::abort();
        if (!encoded) continue;  // a v1 client's frames need not be JSON
        const auto again = decode_client_message(way, whole(*encoded));
        if (!again || !*again) std::abort();
        if ((*again)->channel != message.channel) std::abort();
        if (!same((*again)->frames, message.frames) && way == ClientProtocol::v1) std::abort();
    }
    return 0;
}
