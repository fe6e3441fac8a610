// Fuzzes the reader of ZeroMQ messages. The first byte says whether the message is to be signed
// with our key (so that what lies behind the signature is reached); then parts follow, each after
// two bytes with its length. What is read must come out of the writer the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "kernel-proxy/message.h"
#include "kernel-proxy/zmq/wire.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
using namespace cellblock::kernel_proxy::zmq_door;

namespace {

std::vector<ByteView> parts_of(ByteView input) {
    std::vector<ByteView> parts;
    while (input.size() >= 2) {
        const std::size_t size = load_le<std::uint16_t>(input.data());
        input = input.subspan(2);
        parts.push_back(input.first(std::min(size, input.size())));
        input = input.subspan(parts.back().size());
    }
    return parts;
}

void check(const std::vector<ByteView>& parts, const Signer& signer) {
    const auto read = read_wire(parts, signer);
    if (!read) return;
    (void)read_routing(read->frames[0], read->frames[1]);
    const auto head = wire_head(read->identities, read->frames, signer);
    if (head.size() + read->frames.size() != parts.size()) std::abort();
    for (std::size_t i = 0; i < head.size(); ++i) {
        const bool is_signature = i + 1 == head.size();
        if (!is_signature && head[i] != as_text(parts[i])) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Signer keyless = Signer::create("hmac-sha256", "").value();
    static const Signer keyed = Signer::create("hmac-sha256", "key").value();
    if (size == 0) return 0;
    std::vector<ByteView> parts =
        parts_of(ByteView(reinterpret_cast<const std::byte*>(data + 1), size - 1));
    if ((data[0] & 1) == 0) check(parts, keyed);
    // What passes without a key must pass with one, once it is signed.
    const auto read = read_wire(parts, keyless);
    if (!read) return 0;
    check(parts, keyless);
    const auto head = wire_head(read->identities, read->frames, keyed);
    parts[head.size() - 1] = as_bytes(head.back());
    if (!read_wire(parts, keyed)) std::abort();
    check(parts, keyed);
    return 0;
}
