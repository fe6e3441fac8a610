// What a kernel is: how it is started, how it ends, and how it goes on elsewhere. Values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernel-proxy/channels_image.h"
#include "kernel-proxy/kernel_launch.h"
#include "kernel-proxy/message.h"

namespace cellblock::kernel_proxy {

class RunningCell;

enum class KernelState { starting, idle, busy, restarting, dead };
std::string_view to_string(KernelState state);

// What a kernel is started with, and restarted with: it comes back the same.
struct KernelSpec {
    std::string id;                // the gateway's id: unique over all sandboxes
    std::string guest_id;          // the agent's id: unique within its VM
    std::string name = "python3";  // kernelspec in the guest
    std::string working_directory = "/home/user";
    std::map<std::string, std::string> environment;  // the sandbox's, then the context's own
    KernelLaunch launch;
    KernelSpec() = default;
};

// The guest says that a kernel process ended without being asked to.
struct KernelDeath {
    std::int64_t pid = 0;
    std::string how;  // "signal 11 (Segmentation fault)"
    bool out_of_memory = false;
    std::int64_t peak_bytes = 0;
    std::int64_t limit_bytes = 0;
    std::int64_t processes_max = 0;  // not 0: it had more, and was killed for it
};

// A kernel as it is at one moment, for a copy of its guest.
struct KernelImage {
    KernelSpec spec;
    std::int64_t pid = 0;
    KernelState state = KernelState::idle;
    // The cell that the kernel was given, with an execution of its own. Null: none.
    std::shared_ptr<RunningCell> running;
    // Messages of the kernel that its host has had.
    std::uint64_t received = 0;
    // Where the same guest goes on with another gateway: what it said after `received` it says
    // again, to `running`; and that is sent once more if nothing was heard of it.
    bool resumes = false;
    // What its clients have, of the same guest with another gateway.
    std::optional<ChannelsImage> channels;
    std::shared_ptr<const Request> send_again;

    KernelImage() = default;
};

}  // namespace cellblock::kernel_proxy
