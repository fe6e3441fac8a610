// A client's WebSocket to the gateway, for the relay of a kernel (lasting_upstream.h).
//
// Connecting waits; after it nothing does, the handshake neither: the loop polls descriptor().
// Pings are answered as a part of receive(). Owner: the command. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "gateway/cli/http_client.h"
#include "gateway/http/websocket_frames.h"

namespace cellblock::gateway::cli {

class WebSocketClient {
  public:
    // `path` on the gateway, and the subprotocol that it must speak. The handshake has begun.
    static Result<std::unique_ptr<WebSocketClient>> open(const HttpClient& client,
                                                         const std::string& path,
                                                         const std::string& protocol);
    // Whether the handshake is done. not_found, unauthorized, or not_supported when something else
    // than our gateway answers; timeout.
    Result<bool> shake_hands();
    Result<void> wait_for_hands();

    int descriptor() const { return stream_->descriptor(); }
    bool wants_to_write() const { return waiting_bytes() > 0; }
    std::size_t waiting_bytes() const { return outbox_.size() - written_; }
    // When it has to be looked after at the latest.
    Deadline next_check() const;

    // As kernel_proxy::zmq_door::Upstream.
    Result<void> send(std::span<const ByteView> parts);
    Result<void> flush();
    Result<std::optional<Bytes>> receive();

  private:
    WebSocketClient(std::unique_ptr<GatewayStream> stream, std::string protocol);

    Result<std::size_t> fill();
    void queue(http::Opcode opcode, std::span<const ByteView> parts);
    // The payload of a message; nothing for a control frame, which is taken care of.
    Result<std::optional<Bytes>> take(http::WebSocketMessage message);

    std::unique_ptr<GatewayStream> stream_;
    const std::string protocol_;
    const std::string key_;
    const Deadline answer_by_;
    bool connected_ = false;
    http::WebSocketParser parser_;
    Bytes inbox_;  // what was read and not parsed: from `parsed_` to `filled_`
    std::size_t parsed_ = 0;
    std::size_t filled_ = 0;
    Bytes outbox_;
    std::size_t written_ = 0;
    Deadline heard_at_;
};

}  // namespace cellblock::gateway::cli
