#include "gateway/http/websocket_frames.h"

#include <algorithm>

#include <openssl/evp.h>

#include "base/base64.h"
#include "base/unicode.h"

namespace cellblock::gateway::http {
namespace {

constexpr std::size_t control_max_bytes = 125;
constexpr std::size_t close_text_max_bytes = control_max_bytes - 2;
constexpr std::size_t key_bytes = 16;

tl::unexpected<CloseReason> protocol_error(std::string_view why) {
    return tl::unexpected<CloseReason>(CloseReason(close_code::protocol_error, std::string(why)));
}

unsigned bits(std::byte byte) {
    return std::to_integer<unsigned>(byte);
}

bool is_control(Opcode opcode) {
    return static_cast<unsigned>(opcode) >= 8;
}

// RFC 6455 7.4: what an endpoint may send.
bool is_sendable(std::uint16_t code) {
    if (code >= 3000 && code <= 4999) return true;
    return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

}  // namespace

// As far as the bytes so far tell.
std::size_t WebSocketParser::head_bytes() const {
    if (head_have_ < 2) return 2;
    const unsigned length = bits(head_[1]) & 0x7f;
    return 2 + (length == 127 ? 8 : length == 126 ? 2 : 0) + mask_bytes();
}

WebSocketParser::Checked WebSocketParser::read_head() {
    if ((bits(head_[0]) & 0x70) != 0) return protocol_error("no extension was agreed on");
    const bool masked = (bits(head_[1]) & 0x80) != 0;
    if (masked != (peer_ == Peer::client)) {
        return protocol_error("a client's frames are masked, a server's are not");
    }
    const unsigned opcode = bits(head_[0]) & 0x0f;
    if ((opcode > 2 && opcode < 8) || opcode > 10) return protocol_error("unknown opcode");
    opcode_ = static_cast<Opcode>(opcode);
    final_ = (bits(head_[0]) & 0x80) != 0;
    const std::size_t length_bytes = head_bytes() - 2 - mask_bytes();
    left_ = bits(head_[1]) & 0x7f;
    if (length_bytes > 0) left_ = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) left_ = (left_ << 8) | bits(head_[2 + i]);
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(2 + length_bytes), mask_bytes(),
                mask_.begin());
    mask_at_ = 0;
    if (is_control(opcode_)) {
        if (!final_ || left_ > control_max_bytes) return protocol_error("a broken control frame");
        return {};
    }
    if (opcode_ == Opcode::continuation && !fragmented_) {
        return protocol_error("a continuation of nothing");
    }
    if (opcode_ != Opcode::continuation && fragmented_) {
        return protocol_error("a new message inside another");
    }
    if (left_ > message_max_bytes_ - message_.size()) {
        return tl::unexpected<CloseReason>(
            CloseReason(close_code::too_big,
                        "a message has at most " + std::to_string(message_max_bytes_) + " bytes"));
    }
    if (opcode_ != Opcode::continuation) fragmented_ = opcode_;
    return {};
}

void WebSocketParser::take_payload(ByteView piece) {
    Bytes& to = is_control(opcode_) ? control_ : message_;
    std::size_t at = to.size();
    to.insert(to.end(), piece.begin(), piece.end());
    if (peer_ == Peer::client) {
        for (; at < to.size(); ++at) to[at] ^= mask_[mask_at_++ % mask_.size()];
    }
    left_ -= piece.size();
}

WebSocketMessage WebSocketParser::take_message() {
    WebSocketMessage message;
    if (is_control(opcode_)) {
        message.opcode = opcode_;
        message.payload = std::exchange(control_, Bytes());
    } else {
        message.opcode = *std::exchange(fragmented_, std::nullopt);
        message.payload = std::exchange(message_, Bytes());
    }
    return message;
}

tl::expected<WebSocketParser::Step, CloseReason> WebSocketParser::step(ByteView input) {
    Step step;
    while (true) {
        if (!in_payload_) {
            while (head_have_ < head_bytes() && step.used < input.size()) {
                head_[head_have_++] = input[step.used++];
            }
            if (head_have_ < head_bytes()) return step;
            if (const auto checked = read_head(); !checked) {
                return tl::unexpected<CloseReason>(checked.error());
            }
            in_payload_ = true;
        }
        const std::size_t piece =
            static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size() - step.used));
        take_payload(input.subspan(step.used, piece));
        step.used += piece;
        if (left_ > 0) return step;
        in_payload_ = false;
        head_have_ = 0;
        if (!is_control(opcode_) && !final_) continue;
        step.message = take_message();
        return step;
    }
}

FrameHead frame_head(Opcode opcode, std::uint64_t payload_bytes) {
    FrameHead head;
    const auto put = [&head](std::uint64_t byte) {
        head.bytes[head.size++] = static_cast<std::byte>(byte & 0xff);
    };
    put(0x80U | static_cast<unsigned>(opcode));
    int length_bytes = 0;
    if (payload_bytes <= 125) {
        put(payload_bytes);
    } else if (payload_bytes <= 0xffff) {
        put(126);
        length_bytes = 2;
    } else {
        put(127);
        length_bytes = 8;
    }
    for (int i = length_bytes - 1; i >= 0; --i) put(payload_bytes >> (8 * i));
    return head;
}

void append_masked_frame(Bytes& to, Opcode opcode, std::span<const ByteView> parts,
                         const Mask& mask) {
    std::size_t size = 0;
    for (const ByteView part : parts) size += part.size();
    FrameHead head = frame_head(opcode, size);
    head.bytes[1] |= std::byte{0x80};
    to.insert(to.end(), head.view().begin(), head.view().end());
    to.insert(to.end(), mask.begin(), mask.end());
    std::size_t at = to.size();
    to.resize(at + size);
    std::size_t masked = 0;
    for (const ByteView part : parts) {
        for (const std::byte byte : part) to[at++] = byte ^ mask[masked++ % mask.size()];
    }
}

Bytes close_payload(const CloseReason& reason) {
    if (reason.code == close_code::none_given) return {};
    Bytes payload = {static_cast<std::byte>(reason.code >> 8),
                     static_cast<std::byte>(reason.code & 0xff)};
    std::string_view text = std::string_view(reason.text).substr(0, close_text_max_bytes);
    while (!is_valid_utf8(text)) text.remove_suffix(1);
    const ByteView view = as_bytes(text);
    payload.insert(payload.end(), view.begin(), view.end());
    return payload;
}

tl::expected<CloseReason, CloseReason> read_close_payload(ByteView payload) {
    if (payload.empty()) return CloseReason(close_code::none_given, "");
    if (payload.size() < 2) return protocol_error("a broken close frame");
    const auto code = static_cast<std::uint16_t>(bits(payload[0]) << 8 | bits(payload[1]));
    if (!is_sendable(code)) return protocol_error("a close code that may not be sent");
    const std::string_view text = as_text(payload.subspan(2));
    if (!is_valid_utf8(text)) return protocol_error("a close reason that is not UTF-8");
    return CloseReason(code, std::string(text));
}

std::optional<std::string> accept_value(std::string_view key) {
    const auto decoded = base64_decode(key);
    if (!decoded || decoded->size() != key_bytes) return std::nullopt;
    std::string text(key);
    text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) {
        return std::nullopt;
    }
    return base64_encode(
        as_bytes(std::string_view(reinterpret_cast<const char*>(digest.data()), size)));
}

}  // namespace cellblock::gateway::http
