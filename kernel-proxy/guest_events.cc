#include "kernel-proxy/guest_events.h"

#include <sys/types.h>

#include "base/log.h"
#include "base/process.h"

namespace cellblock::kernel_proxy {
namespace {

Result<KernelDeath> read_death(const Json& event) {
    KernelDeath death;
    CB_TRY_ASSIGN(pid, required_integer(event, "pid"));
    CB_TRY_ASSIGN(signal_number, optional_integer(event, "signal"));
    CB_TRY_ASSIGN(exit_code, optional_integer(event, "exit_code"));
    CB_TRY_ASSIGN(out_of_memory, optional_boolean(event, "out_of_memory"));
    CB_TRY_ASSIGN(peak, optional_integer(event, "peak_bytes"));
    CB_TRY_ASSIGN(limit, optional_integer(event, "limit_bytes"));
    CB_TRY_ASSIGN(processes_max, optional_integer(event, "processes_max"));
    ExitStatus status;
    status.signal = signal_number && *signal_number > 0 && *signal_number < 65
                        ? static_cast<int>(*signal_number)
                        : 0;
    status.exit_code = static_cast<int>(exit_code.value_or(-1) & 0xff);
    death.pid = pid;
    death.how = status.text();
    death.out_of_memory = out_of_memory.value_or(false);
    death.peak_bytes = peak.value_or(0);
    death.limit_bytes = limit.value_or(0);
    death.processes_max = processes_max.value_or(0);
    return death;
}

Result<void> handle(const Json& event, const GuestEventHandlers& handlers) {
    CB_TRY_ASSIGN(name, required_string(event, "event"));
    if (name == "kernel_died") {
        CB_TRY_ASSIGN(kernel_id, required_string(event, "kernel_id"));
        CB_TRY_ASSIGN(death, read_death(event));
        if (handlers.on_kernel_died) handlers.on_kernel_died(kernel_id, death);
    } else if (name == "message_dropped") {
        CB_TRY_ASSIGN(kernel_id, required_string(event, "kernel_id"));
        CB_TRY_ASSIGN(bytes, optional_integer(event, "bytes"));
        if (handlers.on_message_dropped) handlers.on_message_dropped(kernel_id, bytes.value_or(0));
    }
    return {};  // events of newer agents are ignored
}

}  // namespace

boost::asio::awaitable<void> read_guest_events(vm::link::StreamPtr stream,
                                               GuestEventHandlers handlers) {
    while (true) {
        auto message = co_await stream->read_message(limits::link_params_max_bytes);
        if (!message || !*message) co_return;
        const auto event = parse_json(as_text(**message), JsonLimits{limits::link_params_max_bytes},
                                      "a guest event");
        const auto handled = event ? handle(*event, handlers) : Result<void>(fail(event.error()));
        if (!handled) log::warning("guest_event_refused", {{"error", handled.error().cause}});
    }
}

}  // namespace cellblock::kernel_proxy
