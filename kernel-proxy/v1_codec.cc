#include "kernel-proxy/v1_codec.h"

#include <string>

#include "vm/link/kernel_message.h"

namespace cellblock::kernel_proxy {
namespace {

using vm::link::kJsonFrames;

constexpr std::size_t word_bytes = 8;

tl::unexpected<Error> bad(std::string cause) {
    return fail(ErrorCode::invalid_argument, std::move(cause));
}

}  // namespace

std::optional<std::vector<ByteView>> cut_at_offsets(ByteView bytes, std::size_t table_bytes,
                                                    const std::vector<std::uint64_t>& offsets) {
    std::vector<ByteView> parts;
    std::uint64_t begin = offsets.front();
    if (begin < table_bytes) return std::nullopt;
    for (std::size_t i = 1; i < offsets.size(); ++i) {
        if (offsets[i] < begin || offsets[i] > bytes.size()) return std::nullopt;
        parts.push_back(bytes.subspan(begin, offsets[i] - begin));
        begin = offsets[i];
    }
    return parts;
}

Result<V1Message> decode_v1_message(ByteView bytes) {
    if (bytes.size() < word_bytes) return bad("it ends before its offsets");
    const auto count = load_le<std::uint64_t>(bytes.data());
    // The channel, the four JSON frames, buffers, and the end.
    constexpr std::size_t least = 1 + kJsonFrames + 1;
    constexpr std::size_t most = 1 + limits::kernel_message_frames_max + 1;
    if (count < least || count > most) return bad(std::to_string(count) + " offsets");
    const std::size_t table_bytes = word_bytes * (1 + count);
    if (bytes.size() < table_bytes) return bad("it ends before its offsets");
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = 1; i <= count; ++i) {
        offsets.push_back(load_le<std::uint64_t>(bytes.data() + word_bytes * i));
    }
    auto parts = cut_at_offsets(bytes, table_bytes, offsets);
    if (!parts) return bad("an offset points outside");
    V1Message message;
    message.channel = as_text(parts->front());
    parts->erase(parts->begin());
    message.frames = std::move(*parts);
    return message;
}

Bytes encode_v1_head(std::string_view channel, std::span<const ByteView> frames) {
    const std::size_t count = 1 + frames.size() + 1;
    std::uint64_t offset = word_bytes * (1 + count);
    Bytes head(offset);
    std::byte* at = head.data();
    const auto put = [&at](std::uint64_t word) {
        store_le<std::uint64_t>(at, word);
        at += word_bytes;
    };
    put(count);
    put(offset);
    offset += channel.size();
    for (const ByteView frame : frames) {
        put(offset);
        offset += frame.size();
    }
    put(offset);
    const ByteView name = as_bytes(channel);
    head.insert(head.end(), name.begin(), name.end());
    return head;
}

}  // namespace cellblock::kernel_proxy
