// The relay's connection to a kernel of the gateway, which outlives the gateway: when it breaks,
// another one is made under the same session, to whoever serves the kernel by then.
//
// While there is none, nothing is sent or received, and time passes: a gateway that comes back
// takes its sandboxes over before it answers. Owner: the command. One thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "gateway/cli/http_client.h"
#include "gateway/cli/websocket_client.h"
#include "kernel-proxy/zmq/upstream.h"

namespace cellblock::gateway::cli {

class LastingUpstream final : public kernel_proxy::zmq_door::Upstream {
  public:
    // The first connection, for which it waits. `client` outlives it. A gateway that stays away for
    // longer than `patience` is given up.
    static Result<std::unique_ptr<LastingUpstream>> connect(const HttpClient& client,
                                                            const std::string& channels_path,
                                                            std::chrono::seconds patience);

    int descriptor() const override;
    std::uint64_t connection() const override { return connection_; }
    bool wants_to_write() const override { return socket_ && socket_->wants_to_write(); }
    Deadline next_check() const override;
    std::size_t waiting_bytes() const override;

    Result<void> send(std::span<const ByteView> parts) override;
    Result<void> flush() override;
    Result<std::optional<Bytes>> receive() override;

  private:
    LastingUpstream(const HttpClient& client, std::string path, std::chrono::seconds patience,
                    Fd never);

    // Goes on without a connection, unless the error is the kernel's.
    Result<void> lose(const Error& error);
    Result<void> reconnect();
    // After an attempt has failed: nothing, or the last word.
    Result<void> try_later(const Error& error);

    const HttpClient& client_;
    const std::string path_;
    const std::chrono::seconds patience_;
    const Fd never_;  // is never ready
    std::unique_ptr<WebSocketClient> socket_;
    bool connected_ = false;  // socket_'s handshake is done
    bool useful_ = false;     // a message came
    std::uint64_t connection_ = 0;
    Deadline connected_at_;
    Deadline lost_at_;
    Deadline next_try_;
};

}  // namespace cellblock::gateway::cli
