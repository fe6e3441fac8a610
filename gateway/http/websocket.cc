#include "gateway/http/websocket.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace cellblock::gateway::http {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

constexpr std::string_view supported_version = "13";
// Copying so much costs less than the system call that it saves.
constexpr std::size_t kept_message_max_bytes = 8 * limits::KiB;
constexpr std::size_t kept_max_bytes = 64 * limits::KiB;

bool is_data(Opcode opcode) {
    return opcode == Opcode::text || opcode == Opcode::binary;
}

Result<std::string> check_handshake(const Request& request, ResponseWriter& writer) {
    const Headers& headers = request.headers();
    if (!headers.lists("Upgrade", "websocket") || !headers.lists("Connection", "upgrade")) {
        return fail(ErrorCode::invalid_argument, "this is the address of a WebSocket",
                    "ask for an upgrade: Connection: Upgrade, Upgrade: websocket");
    }
    if (headers.get("Sec-WebSocket-Version").value_or("") != supported_version) {
        writer.headers().set("Sec-WebSocket-Version", supported_version);
        return fail(ErrorCode::invalid_argument, "only version 13 of WebSocket is spoken here");
    }
    auto accept = accept_value(trim(headers.get("Sec-WebSocket-Key").value_or("")));
    if (!accept) return fail(ErrorCode::invalid_argument, "the Sec-WebSocket-Key is malformed");
    return std::move(*accept);
}

}  // namespace

std::string choose_protocol(const Headers& headers, std::span<const std::string_view> known) {
    for (const auto& [name, value] : headers.items()) {
        if (!equal_ignoring_case(name, "Sec-WebSocket-Protocol")) continue;
        std::string_view rest = value;
        while (!rest.empty()) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            const std::string_view offered = trim(rest.substr(0, comma));
            if (std::find(known.begin(), known.end(), offered) != known.end()) {
                return std::string(offered);
            }
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return {};
}

WebSocket::WebSocket(Wire& wire, std::string protocol, WebSocketOptions options)
    : wire_(wire),
      protocol_(std::move(protocol)),
      options_(std::move(options)),
      parser_(options_.message_max_bytes),
      next_ping_(steady_clock::now() + limits::websocket_ping_interval) {}

asio::awaitable<Result<std::unique_ptr<WebSocket>>> WebSocket::accept(Request& request,
                                                                      ResponseWriter& writer,
                                                                      WebSocketOptions options) {
    CB_CO_TRY_ASSIGN(accept, check_handshake(request, writer));
    std::string protocol = choose_protocol(request.headers(), options.protocols);
    writer.headers().set("Upgrade", "websocket");
    writer.headers().set("Sec-WebSocket-Accept", accept);
    // One that was not offered, or an empty one, makes clients refuse the connection.
    if (!protocol.empty()) writer.headers().set("Sec-WebSocket-Protocol", protocol);
    // The socket is made after the answer is out; until then there is nothing to stop.
    const auto socket = std::make_shared<WebSocket*>(nullptr);
    auto on_stop = [socket] {
        if (*socket == nullptr) return;
        (*socket)->begin_close(CloseReason(close_code::service_restart, "the gateway stops"));
    };
    CB_CO_TRY_ASSIGN(wire, co_await writer.upgrade(std::move(on_stop)));
    std::unique_ptr<WebSocket> made(new WebSocket(*wire, std::move(protocol), std::move(options)));
    *socket = made.get();
    co_return made;
}

// --- the reader --------------------------------------------------------------------------------

asio::awaitable<std::optional<WebSocketMessage>> WebSocket::read() {
    while (!peer_closed_ && !gone_) {
        const std::string_view input = wire_.buffered();
        if (broken_) {
            wire_.consume(input.size());
            co_await receive();
            continue;
        }
        auto step = parser_.step(as_bytes(input));
        if (!step) {
            // Nothing behind this can be understood; it is dropped until the peer ends too, because
            // closing with unread bytes would destroy our close frame on its way.
            broken_ = true;
            begin_close(std::move(step).error());
            continue;
        }
        wire_.consume(step->used);
        if (!step->message) {
            co_await receive();
        } else if (is_data(step->message->opcode)) {
            if (!closing()) co_return std::move(step->message);
        } else {
            take_control(*step->message);
        }
    }
    co_return std::nullopt;
}

asio::awaitable<void> WebSocket::receive() {
    const auto received = co_await wire_.fill(steady_clock::now() + limits::websocket_silence_max);
    if (received && *received > 0) co_return;
    gone_ = true;
    // A writer that still waits for room in the socket has nobody to write to.
    wire_.close();
    if (options_.wake) options_.wake();
}

void WebSocket::take_control(const WebSocketMessage& message) {
    switch (message.opcode) {
        case Opcode::ping:
            // Only the latest is answered (RFC 6455 5.5.3): a flood of pings costs nothing.
            pong_due_ = message.payload;
            if (options_.wake) options_.wake();
            return;
        case Opcode::pong:
            if (options_.on_pong) options_.on_pong(message.payload);
            return;
        default:
            break;
    }
    peer_closed_ = true;
    auto reason = read_close_payload(message.payload);
    begin_close(reason ? std::move(*reason) : std::move(reason).error());
}

// --- the writer --------------------------------------------------------------------------------

asio::awaitable<Result<void>> WebSocket::write(Opcode opcode, std::span<const ByteView> parts,
                                               ByteView marker) {
    std::size_t size = 0;
    for (const ByteView part : parts) size += part.size();
    const FrameHead ping = frame_head(Opcode::ping, marker.size());
    const FrameHead head = frame_head(opcode, size);
    std::vector<ByteView> all;
    all.reserve(parts.size() + 3);
    if (!marker.empty()) {
        all.push_back(ping.view());
        all.push_back(marker);
    }
    all.push_back(head.view());
    all.insert(all.end(), parts.begin(), parts.end());
    auto sent = co_await wire_.write_parts(all);
    co_return sent;
}

bool WebSocket::keep(Opcode opcode, std::span<const ByteView> parts, ByteView marker) {
    std::size_t size = 0;
    for (const ByteView part : parts) size += part.size();
    if (size > kept_message_max_bytes || kept_.size() + size > kept_max_bytes) return false;
    const auto append = [this](ByteView bytes) {
        kept_.insert(kept_.end(), bytes.begin(), bytes.end());
    };
    if (!marker.empty()) {
        append(frame_head(Opcode::ping, marker.size()).view());
        append(marker);
    }
    append(frame_head(opcode, size).view());
    for (const ByteView part : parts) append(part);
    return true;
}

asio::awaitable<Result<void>> WebSocket::flush() {
    if (kept_.empty()) co_return Result<void>();
    const Bytes kept = std::exchange(kept_, Bytes());  // a quiet client costs nothing
    co_return co_await wire_.write(kept);
}

asio::awaitable<bool> WebSocket::keep_up() {
    if (gone_ || close_sent_) co_return false;
    if (close_due_) {
        const Bytes payload = close_payload(*close_due_);
        const std::array<ByteView, 1> parts = {payload};
        close_sent_ = true;
        (void)co_await write(Opcode::close, parts);
        co_return false;
    }
    if (pong_due_) {
        const Bytes payload = std::move(*std::exchange(pong_due_, std::nullopt));
        const std::array<ByteView, 1> parts = {payload};
        const auto sent = co_await write(Opcode::pong, parts);
        if (!sent) co_return false;
    }
    if (steady_clock::now() >= next_ping_) {
        next_ping_ = steady_clock::now() + limits::websocket_ping_interval;
        const auto sent = co_await write(Opcode::ping, {});
        if (!sent) co_return false;
    }
    co_return true;
}

void WebSocket::begin_close(CloseReason reason, std::chrono::seconds within) {
    wire_.end_by(steady_clock::now() + within);
    if (closing()) return;
    close_due_ = std::move(reason);
    if (options_.wake) options_.wake();
}

}  // namespace cellblock::gateway::http
