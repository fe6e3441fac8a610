#include "gateway/cli/websocket_client.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/base64.h"
#include "base/ids.h"
#include "base/limits.h"
#include "gateway/http/headers.h"

namespace cellblock::gateway::cli {

using http::Opcode;
using std::chrono::steady_clock;

namespace {

// What one read takes at most.
constexpr std::size_t inbox_bytes = 256 * limits::KiB;

// "http://host:1/base": the authority, and the path that precedes ours.
std::pair<std::string, std::string> split_url(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
    const std::size_t slash = std::min(url.find('/'), url.size());
    return {std::string(url.substr(0, slash)), std::string(url.substr(slash))};
}

std::string new_key() {
    std::array<std::byte, 16> nonce{};
    fill_random(nonce.data(), nonce.size());
    return base64_encode(nonce);
}

std::string handshake_request(const HttpClient& client, const std::string& path,
                              const std::string& protocol, const std::string& key) {
    const auto [authority, base] = split_url(client.url());
    return "GET " + base + path + " HTTP/1.1\r\nHost: " + authority +
           "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"
           "\r\nSec-WebSocket-Key: " +
           key + "\r\nSec-WebSocket-Protocol: " + protocol +
           "\r\nAuthorization: " + client.authorization() + "\r\n\r\n";
}

// The first field of that name, or nothing.
std::string field_of(std::string_view head, std::string_view name) {
    while (!head.empty()) {
        const std::size_t end = std::min(head.find("\r\n"), head.size());
        const std::string_view line = head.substr(0, end);
        const std::size_t colon = std::min(line.find(':'), line.size());
        if (colon < line.size() && http::equal_ignoring_case(line.substr(0, colon), name)) {
            return std::string(http::trim(line.substr(colon + 1)));
        }
        head.remove_prefix(std::min(end + 2, head.size()));
    }
    return {};
}

Result<void> check_answer(std::string_view head, const std::string& key,
                          const std::string& protocol) {
    constexpr std::string_view version = "HTTP/1.1 ";
    int status = 0;
    if (head.starts_with(version)) {
        const std::string_view rest = head.substr(version.size());
        std::from_chars(rest.data(), rest.data() + rest.size(), status);
    }
    if (status == 404) return fail(ErrorCode::not_found, "the gateway does not know the kernel");
    if (status == 401 || status == 403) {
        return fail(ErrorCode::unauthorized, "the gateway refuses the token",
                    "set CELLBLOCK_TOKEN, or --token-file");
    }
    if (status == 503) {
        return fail(ErrorCode::unavailable, "the gateway is not ready, or has no room",
                    "GET /health says why");
    }
    if (status != 101 || field_of(head, "Sec-WebSocket-Accept") != http::accept_value(key) ||
        field_of(head, "Sec-WebSocket-Protocol") != protocol) {
        return fail(ErrorCode::not_supported,
                    "what answers there speaks no WebSocket of kernels (status " +
                        std::to_string(status) + ")",
                    "check the address of the gateway");
    }
    return {};
}

}  // namespace

WebSocketClient::WebSocketClient(std::unique_ptr<GatewayStream> stream, std::string protocol)
    : stream_(std::move(stream)),
      protocol_(std::move(protocol)),
      key_(new_key()),
      answer_by_(steady_clock::now() + limits::kernel_call_timeout),
      parser_(limits::websocket_message_max_bytes, http::Peer::server),
      inbox_(inbox_bytes),
      heard_at_(steady_clock::now()) {}

Result<std::unique_ptr<WebSocketClient>> WebSocketClient::open(const HttpClient& client,
                                                               const std::string& path,
                                                               const std::string& protocol) {
    CB_TRY_ASSIGN(stream, client.open_stream());
    std::unique_ptr<WebSocketClient> socket(new WebSocketClient(std::move(stream), protocol));
    socket->outbox_ = to_bytes(handshake_request(client, path, protocol, socket->key_));
    return socket;
}

Result<bool> WebSocketClient::shake_hands() {
    while (!connected_) {
        CB_TRY(flush());
        CB_TRY_ASSIGN(read, fill());
        const std::string_view text = as_text(ByteView(inbox_).first(filled_));
        const std::size_t end = text.find("\r\n\r\n");
        if (end != std::string_view::npos) {
            CB_TRY(check_answer(text.substr(0, end), key_, protocol_));
            parsed_ = end + 4;
            connected_ = true;
        } else if (filled_ > limits::http_head_max_bytes) {
            return fail(ErrorCode::too_large, "the gateway's answer does not end");
        } else if (steady_clock::now() >= answer_by_) {
            return fail(ErrorCode::timeout, "the gateway does not answer");
        } else if (read == 0) {
            return false;
        }
    }
    return true;
}

Result<void> WebSocketClient::wait_for_hands() {
    while (true) {
        CB_TRY_ASSIGN(done, shake_hands());
        if (done) return {};
        const int events = POLLIN | (wants_to_write() ? POLLOUT : 0);
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(answer_by_ - steady_clock::now());
        pollfd item{descriptor(), static_cast<short>(events), 0};
        ::poll(&item, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    }
}

// Behind what is there. 0: nothing for now.
Result<std::size_t> WebSocketClient::fill() {
    if (parsed_ == filled_) parsed_ = filled_ = 0;
    CB_TRY_ASSIGN(read, stream_->read(std::span(inbox_).subspan(filled_)));
    filled_ += read;
    if (read > 0) heard_at_ = steady_clock::now();
    return read;
}

Deadline WebSocketClient::next_check() const {
    if (!connected_) return answer_by_;
    return heard_at_ + limits::websocket_silence_max;
}

void WebSocketClient::queue(Opcode opcode, std::span<const ByteView> parts) {
    http::Mask mask{};
    fill_random(mask.data(), mask.size());
    http::append_masked_frame(outbox_, opcode, parts, mask);
}

Result<void> WebSocketClient::send(std::span<const ByteView> parts) {
    queue(Opcode::binary, parts);
    return flush();
}

Result<void> WebSocketClient::flush() {
    while (wants_to_write()) {
        CB_TRY_ASSIGN(written, stream_->write(std::span(outbox_).subspan(written_)));
        if (written == 0) return {};
        written_ += written;
    }
    outbox_.clear();
    written_ = 0;
    return {};
}

Result<std::optional<Bytes>> WebSocketClient::receive() {
    while (true) {
        auto step = parser_.step(ByteView(inbox_).subspan(parsed_, filled_ - parsed_));
        if (!step) return fail(ErrorCode::connection_lost, "the gateway: " + step.error().text);
        parsed_ += step->used;
        if (step->message) {
            CB_TRY_ASSIGN(payload, take(std::move(*step->message)));
            if (payload) return payload;
            continue;
        }
        CB_TRY_ASSIGN(read, fill());
        if (read > 0) continue;
        if (steady_clock::now() >= next_check()) {
            return fail(ErrorCode::connection_lost, "the gateway has gone silent");
        }
        return std::optional<Bytes>();
    }
}

Result<std::optional<Bytes>> WebSocketClient::take(http::WebSocketMessage message) {
    switch (message.opcode) {
        case Opcode::ping: {
            const std::array<ByteView, 1> parts = {message.payload};
            queue(Opcode::pong, parts);
            CB_TRY(flush());
            return std::optional<Bytes>();
        }
        case Opcode::close: {
            const auto reason = http::read_close_payload(message.payload);
            const bool normal = reason && reason->code == http::close_code::normal;
            const std::string text = reason ? reason->text : reason.error().text;
            return fail(normal ? ErrorCode::kernel_died : ErrorCode::connection_lost,
                        text.empty() ? "the gateway ended the connection" : text);
        }
        case Opcode::pong:
            return std::optional<Bytes>();
        default:
            return std::optional<Bytes>(std::move(message.payload));
    }
}

}  // namespace cellblock::gateway::cli
