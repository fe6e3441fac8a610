#include "vm/link/kernel_message.h"

#include <array>
#include <utility>

namespace cellblock::vm::link {
namespace {

constexpr std::size_t kFixedBytes = 2;  // channel, frame count
constexpr std::size_t kLengthBytes = 4;

tl::unexpected<Error> malformed_message(std::string_view why) {
    return fail(ErrorCode::guest_protocol, "a malformed kernel message: " + std::string(why));
}

}  // namespace

std::string_view to_string(Channel channel) {
    switch (channel) {
        case Channel::shell:
            return "shell";
        case Channel::control:
            return "control";
        case Channel::stdin_:
            return "stdin";
        case Channel::iopub:
            return "iopub";
    }
    return "unknown";
}

Result<KernelMessage> KernelMessage::decode(Bytes bytes) {
    if (bytes.size() < kFixedBytes) return malformed_message("it ends before its frames");
    const auto channel = std::to_integer<std::uint8_t>(bytes[0]);
    const auto count = std::to_integer<std::size_t>(bytes[1]);
    if (channel > static_cast<std::uint8_t>(Channel::iopub))
        return malformed_message("no such channel");
    if (count < kJsonFrames || count > limits::kernel_message_frames_max) {
        return malformed_message(std::to_string(count) + " frames");
    }
    const std::size_t head = kFixedBytes + count * kLengthBytes;
    if (bytes.size() < head) return malformed_message("it ends before its frames");

    KernelMessage message;
    message.channel_ = static_cast<Channel>(channel);
    message.bytes_ = std::move(bytes);
    message.frames_.reserve(count);
    ByteView rest = ByteView(message.bytes_).subspan(head);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t length =
            load_le<std::uint32_t>(message.bytes_.data() + kFixedBytes + i * kLengthBytes);
        if (length > rest.size()) return malformed_message("a frame is longer than the message");
        message.frames_.push_back(rest.first(length));
        rest = rest.subspan(length);
    }
    if (!rest.empty()) return malformed_message("bytes after the last frame");
    return message;
}

Result<Bytes> encode_kernel_message_head(Channel channel, std::span<const ByteView> frames) {
    if (frames.size() < kJsonFrames || frames.size() > limits::kernel_message_frames_max) {
        return fail(ErrorCode::invalid_argument,
                    "a kernel message of " + std::to_string(frames.size()) + " frames");
    }
    Bytes head(kFixedBytes + frames.size() * kLengthBytes);
    head[0] = static_cast<std::byte>(channel);
    head[1] = static_cast<std::byte>(frames.size());
    std::size_t total = head.size();
    for (std::size_t i = 0; i < frames.size(); ++i) {
        total += frames[i].size();
        if (total > limits::kernel_message_max_bytes) {
            return fail(ErrorCode::too_large,
                        "a kernel message over " +
                            std::to_string(limits::kernel_message_max_bytes) + " bytes",
                        "send less at once, for example by way of a file");
        }
        store_le<std::uint32_t>(head.data() + kFixedBytes + i * kLengthBytes,
                                static_cast<std::uint32_t>(frames[i].size()));
    }
    return head;
}

boost::asio::awaitable<Result<void>> write_kernel_message(Stream& stream, Channel channel,
                                                          std::span<const ByteView> frames) {
    CB_CO_TRY_ASSIGN(head, encode_kernel_message_head(channel, frames));
    std::array<ByteView, 1 + limits::kernel_message_frames_max> parts;
    parts[0] = head;
    std::copy(frames.begin(), frames.end(), parts.begin() + 1);
    const std::span<const ByteView> used = std::span(parts).first(1 + frames.size());
    co_return co_await stream.write_message(used);
}

boost::asio::awaitable<Result<std::optional<KernelMessage>>> read_kernel_message(
    Stream& stream, std::size_t max_bytes) {
    auto bytes = co_await stream.read_message(max_bytes);
    if (!bytes) co_return fail(std::move(bytes).error());
    if (!*bytes) co_return std::optional<KernelMessage>();
    auto message = KernelMessage::decode(std::move(**bytes));
    if (!message) {
        stream.reset(message.error());
        co_return fail(std::move(message).error());
    }
    co_return std::optional<KernelMessage>(std::move(*message));
}

}  // namespace cellblock::vm::link
