#include "kernel-proxy/client_codec.h"

#include <array>
#include <utility>

#include "kernel-proxy/json_members.h"
#include "kernel-proxy/v1_codec.h"

namespace cellblock::kernel_proxy {
namespace {

using vm::link::kJsonFrames;
using Decoded = Result<std::optional<ClientMessage>>;

constexpr std::size_t legacy_word_bytes = 4;
constexpr std::string_view empty_object = "{}";

tl::unexpected<Error> bad(std::string cause) {
    return fail(ErrorCode::invalid_argument, "a client's message: " + std::move(cause));
}

// iopub is the kernel's alone.
std::optional<Channel> client_channel(std::string_view name) {
    for (const Channel channel : {Channel::shell, Channel::control, Channel::stdin_}) {
        if (name == vm::link::to_string(channel)) return channel;
    }
    return std::nullopt;
}

std::uint32_t load_be32(const std::byte* from) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = (value << 8) | std::to_integer<std::uint32_t>(from[i]);
    return value;
}

void append_be32(Bytes& to, std::size_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        to.push_back(static_cast<std::byte>((value >> shift) & 0xff));
    }
}

Decoded finished(ClientMessage message) {
    auto routing = read_routing(message.frames[0], message.frames[1]);
    if (!routing) return bad(routing.error().cause);
    message.routing = std::move(*routing);
    return std::optional<ClientMessage>(std::move(message));
}

Decoded decode_v1(Bytes bytes) {
    auto v1 = decode_v1_message(bytes);
    if (!v1) return bad(v1.error().cause);
    const auto channel = client_channel(v1->channel);
    if (!channel) return std::optional<ClientMessage>();
    ClientMessage message;
    message.channel = *channel;
    message.frames = std::move(v1->frames);
    message.bytes = std::move(bytes);  // the buffer stays where it is
    return finished(std::move(message));
}

// Absent and null parts are empty objects; "header" must be there.
std::optional<std::vector<ByteView>> json_frames(const std::vector<JsonMember>& members) {
    std::vector<ByteView> frames;
    for (const char* name : {"header", "parent_header", "metadata", "content"}) {
        std::string_view value = find_member(members, name);
        if (frames.empty() && value.empty()) return std::nullopt;
        if (value.empty() || value == "null") value = empty_object;
        if (value.front() != '{') return std::nullopt;
        frames.push_back(as_bytes(value));
    }
    return frames;
}

// The channel of a legacy message: shell when it names none.
std::optional<Channel> legacy_channel(const std::vector<JsonMember>& members) {
    const std::string_view value = find_member(members, "channel");
    if (value.empty() || value == "null") return Channel::shell;
    if (value.size() < 2 || value.front() != '"') return std::nullopt;
    return client_channel(value.substr(1, value.size() - 2));
}

Decoded decode_legacy_parts(std::string_view json, std::vector<ByteView> buffers, Bytes bytes) {
    auto members = split_json_object(json);
    if (!members) return bad(members.error().cause);
    auto frames = json_frames(*members);
    if (!frames) return bad("its header or another part is not an object");
    const auto channel = legacy_channel(*members);
    if (!channel) return std::optional<ClientMessage>();
    frames->insert(frames->end(), buffers.begin(), buffers.end());
    ClientMessage message;
    message.channel = *channel;
    message.frames = std::move(*frames);
    message.bytes = std::move(bytes);
    return finished(std::move(message));
}

Decoded decode_legacy_binary(Bytes bytes) {
    if (bytes.size() < legacy_word_bytes) return bad("it ends before its offsets");
    const std::size_t count = load_be32(bytes.data());
    constexpr std::size_t most = 1 + limits::kernel_message_frames_max - kJsonFrames;
    if (count < 1 || count > most) return bad(std::to_string(count) + " parts");
    const std::size_t table_bytes = legacy_word_bytes * (1 + count);
    if (bytes.size() < table_bytes) return bad("it ends before its offsets");
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = 1; i <= count; ++i) {
        offsets.push_back(load_be32(bytes.data() + legacy_word_bytes * i));
    }
    offsets.push_back(bytes.size());
    auto parts = cut_at_offsets(bytes, table_bytes, offsets);
    if (!parts) return bad("an offset points outside");
    const std::string_view json = as_text(parts->front());
    parts->erase(parts->begin());
    return decode_legacy_parts(json, std::move(*parts), std::move(bytes));
}

EncodedMessage encode_v1(const KernelMessage& message) {
    EncodedMessage encoded;
    encoded.owned.push_back(
        encode_v1_head(vm::link::to_string(message.channel()), message.frames()));
    encoded.parts.emplace_back(encoded.owned.back());
    encoded.parts.insert(encoded.parts.end(), message.frames().begin(), message.frames().end());
    return encoded;
}

// What follows the four objects in a legacy message. `header` gives the ids that clients read at
// the top level.
Bytes legacy_tail(const KernelMessage& message, const std::vector<JsonMember>& header) {
    std::string tail = message.buffers().empty() ? ",\"buffers\":[]" : "";
    tail += ",\"channel\":\"";
    tail += vm::link::to_string(message.channel());
    tail += "\"";
    for (const char* name : {"msg_id", "msg_type"}) {
        const std::string_view value = find_member(header, name);
        tail += std::string(",\"") + name + "\":";
        tail += value.empty() ? "null" : value;
    }
    tail += "}";
    return to_bytes(tail);
}

Result<EncodedMessage> encode_legacy(const KernelMessage& message) {
    static constexpr std::array<std::string_view, kJsonFrames> before = {
        "{\"header\":", ",\"parent_header\":", ",\"metadata\":", ",\"content\":"};
    EncodedMessage encoded;
    encoded.kind = message.buffers().empty() ? FrameKind::text : FrameKind::binary;
    std::vector<JsonMember> header;
    for (std::size_t i = 0; i < kJsonFrames; ++i) {
        const ByteView frame = message.frames()[i];
        auto members = split_json_object(as_text(frame));
        if (!members) return fail(ErrorCode::guest_protocol, members.error().cause);
        if (i == 0) header = std::move(*members);
        encoded.parts.push_back(as_bytes(before[i]));
        encoded.parts.push_back(frame);
    }
    encoded.owned.push_back(legacy_tail(message, header));
    encoded.parts.emplace_back(encoded.owned.back());
    if (message.buffers().empty()) return encoded;

    const std::size_t count = 1 + message.buffers().size();
    std::size_t offset = legacy_word_bytes * (1 + count);
    Bytes table;
    append_be32(table, count);
    append_be32(table, offset);
    offset += encoded.size_bytes();
    for (const ByteView buffer : message.buffers()) {
        append_be32(table, offset);
        offset += buffer.size();
        encoded.parts.push_back(buffer);
    }
    encoded.owned.push_back(std::move(table));
    encoded.parts.insert(encoded.parts.begin(), ByteView(encoded.owned.back()));
    return encoded;
}

}  // namespace

std::size_t EncodedMessage::size_bytes() const {
    std::size_t size = 0;
    for (const ByteView part : parts) size += part.size();
    return size;
}

Decoded decode_client_message(ClientProtocol protocol, Bytes bytes) {
    if (bytes.empty()) return std::optional<ClientMessage>();
    if (protocol == ClientProtocol::v1) return decode_v1(std::move(bytes));
    // A count of parts below 2^24 begins with a zero byte, JSON never does.
    if (bytes.front() == std::byte{0}) return decode_legacy_binary(std::move(bytes));
    const std::string_view json = as_text(bytes);  // the buffer stays where it is when it moves
    return decode_legacy_parts(json, {}, std::move(bytes));
}

Result<EncodedMessage> encode_for_client(ClientProtocol protocol, const KernelMessage& message) {
    if (protocol == ClientProtocol::v1) return encode_v1(message);
    return encode_legacy(message);
}

}  // namespace cellblock::kernel_proxy
