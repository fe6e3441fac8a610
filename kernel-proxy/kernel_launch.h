// How a guest starts a kernel, as its kernelspec says it (jupyter_client, "Kernel specs").
#pragma once

#include <string>
#include <vector>

namespace cellblock::kernel_proxy {

// How a running cell is told to stop (kernelspec, "interrupt_mode"): SIGINT, or a message.
enum class InterruptMode { signal, message };

// A kernel that does not come from the guest's fork server is started by its kernelspec. Such a
// process cannot be told that it is a copy, so its sandbox is neither forked nor paused.
struct KernelLaunch {
    std::vector<std::string> argv;  // "{connection_file}" stands for the path; empty: fork server
    InterruptMode interrupt_mode = InterruptMode::signal;
    KernelLaunch() = default;
};

}  // namespace cellblock::kernel_proxy
