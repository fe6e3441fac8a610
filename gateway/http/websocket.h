// A WebSocket over a connection that was upgraded.
//
// Two coroutines use it: one reads, one writes; neither waits for the other. The reader answers
// nothing itself: pongs and close frames are left for the writer, which is woken. Order of an end:
//
//   begin_close() by anyone, or the peer's close frame
//     -> the writer sends ours and stops -> the reader reads on until the peer's, or the timeout
//
// Owner: the handler, while it runs. Loop thread only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/limits.h"
#include "gateway/http/request.h"
#include "gateway/http/response.h"
#include "gateway/http/websocket_frames.h"

namespace cellblock::gateway::http {

struct WebSocketOptions {
    std::vector<std::string_view> protocols;  // known ones; the client's first known one is taken
    std::size_t message_max_bytes = limits::websocket_message_max_bytes;
    std::function<void()> wake;             // the writer has something to do
    std::function<void(ByteView)> on_pong;  // with the payload of our ping

    WebSocketOptions() = default;
};

class WebSocket {
  public:
    // Answers the handshake. invalid_argument when the request is none, or a broken one.
    static boost::asio::awaitable<Result<std::unique_ptr<WebSocket>>> accept(
        Request& request, ResponseWriter& writer, WebSocketOptions options);

    // What was agreed on; empty: none of ours was offered.
    const std::string& protocol() const { return protocol_; }

    // The reader: the next text or binary message; std::nullopt once nothing more comes.
    boost::asio::awaitable<std::optional<WebSocketMessage>> read();

    // The writer: a whole message. `marker`, if any, goes out as a ping right before it: its pong
    // says that the client has come as far as this message.
    boost::asio::awaitable<Result<void>> write(Opcode opcode, std::span<const ByteView> parts,
                                               ByteView marker = {});
    // The same, kept until flush(): many small messages cost one system call, and wake the client
    // once. False: it is too large to be copied, or enough is kept already; then flush(), write().
    bool keep(Opcode opcode, std::span<const ByteView> parts, ByteView marker = {});
    boost::asio::awaitable<Result<void>> flush();
    // The writer: pongs that are due, a ping when it is time. False: nothing more may be written.
    boost::asio::awaitable<bool> keep_up();
    // When keep_up() has to be called at the latest.
    Deadline next_ping() const { return next_ping_; }

    // Ends it, once; the writer sends the first reason, behind the message that it is in. When
    // `within` has passed, the connection is cut.
    void begin_close(CloseReason reason,
                     std::chrono::seconds within = limits::websocket_close_timeout);
    bool closing() const { return close_due_.has_value() || gone_; }

  private:
    WebSocket(Wire& wire, std::string protocol, WebSocketOptions options);

    boost::asio::awaitable<void> receive();
    void take_control(const WebSocketMessage& message);

    Wire& wire_;
    const std::string protocol_;
    WebSocketOptions options_;
    WebSocketParser parser_;
    std::optional<Bytes> pong_due_;
    std::optional<CloseReason> close_due_;
    bool close_sent_ = false;
    bool peer_closed_ = false;
    bool broken_ = false;  // the peer breaks the protocol
    bool gone_ = false;    // the connection is
    Bytes kept_;           // whole frames
    Deadline next_ping_;
};

// The client's first protocol that we know.
std::string choose_protocol(const Headers& headers, std::span<const std::string_view> known);

}  // namespace cellblock::gateway::http
