// A client's WebSocket to the gateway, for the relay of a kernel (kernel-proxy/zmq/upstream.h).
//
// The handshake waits; after it nothing does. Pings are answered as a part of receive(). Owner: the
// command. One thread.
#pragma once

#include <memory>
#include <string>

#include "gateway/cli/http_client.h"
#include "gateway/http/websocket_frames.h"
#include "kernel-proxy/zmq/upstream.h"

namespace cellblock::gateway::cli {

class WebSocketClient final : public kernel_proxy::zmq_door::Upstream {
  public:
    // `path` on the gateway, and the subprotocol that it must speak. not_found, unauthorized, or
    // not_supported when something else than our gateway answers.
    static Result<std::unique_ptr<WebSocketClient>> connect(const HttpClient& client,
                                                            const std::string& path,
                                                            const std::string& protocol);

    int descriptor() const override { return stream_->descriptor(); }
    bool wants_to_write() const override { return waiting_bytes() > 0; }
    std::size_t waiting_bytes() const override { return outbox_.size() - written_; }
    Deadline next_check() const override;

    Result<void> send(std::span<const ByteView> parts) override;
    Result<void> flush() override;
    Result<std::optional<Bytes>> receive() override;

  private:
    explicit WebSocketClient(std::unique_ptr<GatewayStream> stream);

    Result<std::size_t> fill();
    Result<std::string> read_head();
    void queue(http::Opcode opcode, std::span<const ByteView> parts);
    // The payload of a message; nothing for a control frame, which is taken care of.
    Result<std::optional<Bytes>> take(http::WebSocketMessage message);

    std::unique_ptr<GatewayStream> stream_;
    http::WebSocketParser parser_;
    Bytes inbox_;  // what was read and not parsed: from `parsed_` to `filled_`
    std::size_t parsed_ = 0;
    std::size_t filled_ = 0;
    Bytes outbox_;
    std::size_t written_ = 0;
    Deadline heard_at_;
};

}  // namespace cellblock::gateway::cli
