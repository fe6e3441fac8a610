// What `cellblock kernel` and `cellblock connect` share: one kernel relayed by this process, until
// a signal, a client, the kernel or the gateway ends it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>

#include "base/error.h"
#include "base/fd.h"
#include "gateway/cli/http_client.h"
#include "gateway/cli/kernel_client.h"
#include "kernel-proxy/zmq/relay.h"

namespace cellblock::gateway::cli {

// SIGINT, SIGTERM and SIGHUP as a descriptor; they do nothing else from then on.
class SignalQueue {
  public:
    static Result<SignalQueue> start();
    int descriptor() const { return fd_.get(); }
    // The next one; std::nullopt when none waits.
    std::optional<int> take();
    // Whether one that ends us waits. It stays.
    static bool end_is_pending();

  private:
    explicit SignalQueue(Fd fd) : fd_(std::move(fd)) {}
    Fd fd_;
};

enum class OnRestart { next_process, in_place };
enum class OnInterruptSignal { interrupt_kernel, end };

struct RelayOptions {
    OnRestart on_restart = OnRestart::next_process;
    OnInterruptSignal on_interrupt_signal = OnInterruptSignal::interrupt_kernel;
    // The process whose end is ours; 0: none.
    pid_t client_pid = 0;
    // How long a gateway may be away, while another one takes over.
    std::chrono::seconds gateway_patience{120};
    // Called once clients are served; its error ends it all.
    std::function<Result<void>()> on_ready;

    RelayOptions() = default;
};

// An error when it could not even begin.
Result<kernel_proxy::zmq_door::End> relay_kernel(kernel_proxy::zmq_door::Server& server,
                                                 const HttpClient& client, KernelClient& kernel,
                                                 SignalQueue& signals, const RelayOptions& options);

}  // namespace cellblock::gateway::cli
