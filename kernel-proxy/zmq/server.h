// The kernel's sockets as a Jupyter client expects them, behind xeus' interface of a server.
//
// ROUTERs for shell, control and stdin, an XPUB for iopub, an echo for heartbeats: our own sockets
// and codec (wire.h), one poll loop, no other thread. xeus' stock servers parse before they verify,
// and end the process with their loop. What clients send goes to the relay as frames; what the
// relay answers in the kernel's place (interrupt, shutdown) goes through xeus' listeners and
// messages.
//
// Owner: the command, on its thread; start() is the loop, stop() ends it from within.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <xeus/xeus.hpp>
#include <xeus/xserver.hpp>
#include <zmq.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "kernel-proxy/message.h"
#include "kernel-proxy/zmq/connection_file.h"
#include "kernel-proxy/zmq/publisher.h"
#include "kernel-proxy/zmq/wire.h"

namespace cellblock::kernel_proxy::zmq_door {

#if XEUS_VERSION_MAJOR >= 6
using XeusConfiguration = xeus::xkernel_configuration;
#else
using XeusConfiguration = xeus::xconfiguration;
#endif

// A verified message of a client; its frames are valid during the call.
struct ClientRequest {
    Channel channel = Channel::shell;
    WireMessage wire;
    Routing routing;

    ClientRequest() = default;
};

// Another descriptor in the loop. `ready` is called when it is, and at `deadline`.
struct Watch {
    std::function<int()> descriptor;
    std::function<short()> events;  // ZMQ_POLLIN, ZMQ_POLLOUT
    std::function<void()> ready;
    std::function<Deadline()> deadline;

    Watch() = default;
};

class Server final : public xeus::xserver {
  public:
    // Takes the ports; unavailable when another process has one.
    static Result<std::unique_ptr<Server>> bind(ConnectionFile file);
    ~Server() override;

    // With the ports that were taken where the file left the choice.
    const ConnectionFile& connection() const { return file_; }

    void on_request(std::function<void(const ClientRequest&)> listener);
    // While it says false, clients are not read: they wait in their sockets.
    void accept_while(std::function<bool()> condition) { accepts_ = std::move(condition); }
    void watch(Watch watch) { watches_.push_back(std::move(watch)); }

    // Hands a request to the listeners of xeus' interface, parsed. False: it is no JSON.
    bool notify(const ClientRequest& request);

    // The kernel's own bytes, signed for the client.
    void send(Channel channel, const Identities& identities, std::span<const ByteView> frames);
    void publish_frames(const std::string& topic, std::span<const ByteView> frames);
    // While it is false nothing may be published.
    bool can_publish() const { return !publisher_.blocked(); }

  private:
    class Messenger;
    struct Door {
        Channel channel;
        zmq::socket_t socket;
    };

    Server(ConnectionFile file, Signer signer, std::unique_ptr<zmq::context_t> context,
           std::vector<Door> doors, Publisher publisher, zmq::socket_t heartbeat);

    void turn();
    void call_watches(std::span<const zmq::pollitem_t> items);
    std::chrono::milliseconds time_to_wait() const;
    void read_clients(Door& door);
    void take(Channel channel, const Multipart& parts);
    void welcome_subscribers();
    void echo_heartbeats();
    Door& door_of(Channel channel);
    void send_made(Channel channel, const xeus::xmessage& message);

    xeus::xcontrol_messenger& get_control_messenger_impl() override;
    void send_shell_impl(xeus::xmessage message) override;
    void send_control_impl(xeus::xmessage message) override;
    void send_stdin_impl(xeus::xmessage message) override;
    void publish_impl(xeus::xpub_message message, xeus::channel channel) override;
    void start_impl(xeus::xpub_message message) override;
    void abort_queue_impl(const listener& listener, long polling_interval) override;
    void stop_impl() override;
    void update_config_impl(XeusConfiguration& config) const override;

    ConnectionFile file_;
    Signer signer_;
    std::unique_ptr<zmq::context_t> context_;  // outlives the sockets
    std::vector<Door> doors_;
    Publisher publisher_;
    zmq::socket_t heartbeat_;
    std::unique_ptr<Messenger> messenger_;
    std::function<void(const ClientRequest&)> on_request_;
    std::function<bool()> accepts_;
    std::vector<Watch> watches_;
    bool running_ = false;
};

}  // namespace cellblock::kernel_proxy::zmq_door
