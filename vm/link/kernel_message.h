// Jupyter messages on a `kernel` stream: the frames of one ZeroMQ message, as bytes.
//
// One stream message is
//   u8 channel, u8 frame count, u32 length of each frame, the frames
// with the frames [header, parent_header, metadata, content, buffers...]: no identities, no
// delimiter, no signature (kernels in the guest run without a key). Nothing here parses their JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "base/limits.h"
#include "vm/link/stream.h"

namespace cellblock::vm::link {

enum class Channel : std::uint8_t { shell = 0, control = 1, stdin_ = 2, iopub = 3 };

std::string_view to_string(Channel channel);  // "shell", "control", "stdin", "iopub"

// Header, parent header, metadata and content.
inline constexpr std::size_t kJsonFrames = 4;

// A received message: owns its bytes once, frames are views into them. Move-only; moving keeps the
// views valid.
class KernelMessage {
  public:
    // Takes the bytes of one stream message; guest_protocol for anything but the layout above with
    // 4 to limits::kernel_message_frames_max frames.
    static Result<KernelMessage> decode(Bytes bytes);

    KernelMessage(KernelMessage&&) noexcept = default;
    KernelMessage& operator=(KernelMessage&&) noexcept = default;
    KernelMessage(const KernelMessage&) = delete;
    KernelMessage& operator=(const KernelMessage&) = delete;

    Channel channel() const { return channel_; }
    std::span<const ByteView> frames() const { return frames_; }
    ByteView header() const { return frames_[0]; }
    ByteView parent_header() const { return frames_[1]; }
    ByteView metadata() const { return frames_[2]; }
    ByteView content() const { return frames_[3]; }
    std::span<const ByteView> buffers() const { return frames().subspan(kJsonFrames); }
    std::size_t size_bytes() const { return bytes_.size(); }

  private:
    KernelMessage() = default;

    Bytes bytes_;
    std::vector<ByteView> frames_;
    Channel channel_ = Channel::shell;
};

// The bytes that precede the frames in the stream message. invalid_argument for fewer than 4 or too
// many frames, too_large past limits::kernel_message_max_bytes.
Result<Bytes> encode_kernel_message_head(Channel channel, std::span<const ByteView> frames);

// One message; the frames must stay valid until this completes (they are copied once, into the
// link's buffer).
boost::asio::awaitable<Result<void>> write_kernel_message(Stream& stream, Channel channel,
                                                          std::span<const ByteView> frames);
// The next message; std::nullopt at END. A malformed one resets the stream.
boost::asio::awaitable<Result<std::optional<KernelMessage>>> read_kernel_message(
    Stream& stream, std::size_t max_bytes = limits::kernel_message_max_bytes);

}  // namespace cellblock::vm::link
