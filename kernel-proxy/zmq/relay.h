// Relays one kernel between ZeroMQ clients and the gateway, byte for byte.
//
//   client -> Server (verified) -> v1 frames -> Upstream       shell, stdin, control
//   client <- Server (signed)   <- v1 frames <- Upstream       replies to the asker, iopub to all
//
// When the upstream has made another connection (the gateway was killed, and another one has taken
// over), what nothing came back of is sent again, and what comes again is dropped: clients see a
// pause, no more.
//
// Two requests are answered here: an interrupt (whatever the kernel's interrupt_mode is, the
// gateway knows how) and a shutdown (the gateway deletes the kernel, or restarts it in place).
//
// Owner: the command. One thread, inside run().
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kernel-proxy/zmq/askers.h"
#include "kernel-proxy/zmq/passed_on.h"
#include "kernel-proxy/zmq/server.h"
#include "kernel-proxy/zmq/unheard.h"
#include "kernel-proxy/zmq/upstream.h"

namespace cellblock::kernel_proxy::zmq_door {

enum class EndReason {
    shut_down,     // a client asked for it
    handed_over,   // a client restarts the kernel: it goes on in another process
    asked,         // by signal
    client_gone,   // the process that started this one has ended
    kernel_gone,   // deleted, or dead for good
    gateway_gone,  // the connection to the gateway broke
};

struct End {
    EndReason reason = EndReason::asked;
    std::string text;

    End() = default;
    End(EndReason reason_, std::string text_) : reason(reason_), text(std::move(text_)) {}
};

// The gateway's calls for this kernel. They may take a moment.
struct KernelCalls {
    std::function<Result<void>()> interrupt;
    // Empty: a restart ends the relay as `handed_over`, as clients that start processes expect.
    std::function<Result<void>()> restart;

    KernelCalls() = default;
};

class Relay {
  public:
    // All outlive it.
    Relay(Server& server, Upstream& upstream, std::string kernel_id, KernelCalls calls);

    // Until something ends it.
    End run();

    // From within the loop.
    void end(EndReason reason, std::string text);
    Result<void> interrupt() { return calls_.interrupt(); }

  private:
    void watch_upstream();
    void take_request(const ClientRequest& request);
    void answer(Channel channel, const xeus::xmessage& request);
    nl::json outcome_of(const xeus::xmessage& request, bool is_shutdown);
    void read_upstream();
    Result<void> send_unheard();
    void pass_on(ByteView message);
    void publish_made(std::string_view msg_type, const nl::json& parent, const nl::json& content);

    Server& server_;
    Upstream& upstream_;
    const std::string kernel_id_;
    KernelCalls calls_;
    Askers askers_;
    Unheard unheard_;
    PassedOn passed_on_;
    std::uint64_t connection_;  // the upstream's, that knows of all that was sent
    std::string session_;       // the kernel's, as its messages have it
    bool more_upstream_ = false;
    std::optional<End> end_;
};

}  // namespace cellblock::kernel_proxy::zmq_door
