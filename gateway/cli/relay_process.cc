#include "gateway/cli/relay_process.h"

#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/log.h"
#include "gateway/cli/lasting_upstream.h"

namespace cellblock::gateway::cli {

using kernel_proxy::zmq_door::End;
using kernel_proxy::zmq_door::EndReason;
using kernel_proxy::zmq_door::Relay;
using kernel_proxy::zmq_door::Server;
using kernel_proxy::zmq_door::Watch;

namespace {

Watch watch_of(int descriptor, std::function<void()> ready) {
    Watch watch;
    watch.descriptor = [descriptor] { return descriptor; };
    watch.events = []() -> short { return ZMQ_POLLIN; };
    watch.ready = std::move(ready);
    return watch;
}

void take_signals(SignalQueue& signals, Relay& relay, OnInterruptSignal on_interrupt) {
    while (const auto number = signals.take()) {
        if (*number != SIGINT || on_interrupt == OnInterruptSignal::end) {
            relay.end(EndReason::asked, ::strsignal(*number));
            continue;
        }
        const auto sent = relay.interrupt();
        if (!sent) log::warning("kernel_interrupt_failed", {{"error", sent.error().text()}});
    }
}

// Readable once the process has ended; no descriptor when it has already.
Fd open_pidfd(pid_t pid) {
    return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
}

}  // namespace

Result<SignalQueue> SignalQueue::start() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, number);
    if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) {
        return fail(error_from_errno(errno, "block signals"));
    }
    Fd fd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
    if (!fd) return fail(error_from_errno(errno, "watch for signals"));
    return SignalQueue(std::move(fd));
}

std::optional<int> SignalQueue::take() {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
    return static_cast<int>(info.ssi_signo);
}

bool SignalQueue::end_is_pending() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigpending(&set);
    return ::sigismember(&set, SIGTERM) == 1 || ::sigismember(&set, SIGHUP) == 1;
}

Result<End> relay_kernel(Server& server, const HttpClient& client, KernelClient& kernel,
                         SignalQueue& signals, const RelayOptions& options) {
    CB_TRY_ASSIGN(upstream, LastingUpstream::connect(client, kernel.channels_path(),
                                                     options.gateway_patience));
    kernel_proxy::zmq_door::KernelCalls calls;
    calls.interrupt = [&kernel] { return kernel.interrupt(); };
    if (options.on_restart == OnRestart::in_place) {
        calls.restart = [&kernel] { return kernel.restart(); };
    }
    Relay relay(server, *upstream, kernel.id(), std::move(calls));
    server.watch(watch_of(signals.descriptor(),
                          [&] { take_signals(signals, relay, options.on_interrupt_signal); }));
    Fd client_process;
    if (options.client_pid > 0) {
        client_process = open_pidfd(options.client_pid);
        if (!client_process) return End(EndReason::client_gone, "it has ended");
        server.watch(watch_of(client_process.get(), [&relay] {
            relay.end(EndReason::client_gone, "the process that started this one has ended");
        }));
    }
    if (options.on_ready) {
        CB_TRY(options.on_ready());
    }
    return relay.run();
}

}  // namespace cellblock::gateway::cli
