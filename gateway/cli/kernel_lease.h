// Sees to it that a kernel does not outlive the process that relays it, however that ends.
//
// A child of its own waits for the process's end. Told "released", it has nothing to do; else the
// kernel is orphaned: it is left to a successor for a while, then deleted. A successor is a process
// with the same connection file: clients restart a kernel by ending its process and starting
// another. A note beside the connection file names the kernel; whoever unlinks it has the kernel.
//
// Owner: the command. start() forks: before the process has threads, sockets or a kernel.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace cellblock::gateway::cli {

class KernelLease {
  public:
    // `remove` deletes a kernel; it is called in the child.
    static Result<KernelLease> start(const std::filesystem::path& connection_file,
                                     std::function<void(const std::string& kernel_id)> remove);

    // A kernel of this gateway that the connection file's last process has left.
    static std::optional<std::string> claim(const std::filesystem::path& connection_file,
                                            const std::string& gateway_url);

    // From now on the kernel is this process's.
    Result<void> hold(const std::string& kernel_id, const std::string& gateway_url);
    // The kernel is deleted, or never was ours: nothing is left to do.
    void release();
    // A successor is expected: it gets the longer time.
    void hand_over();

  private:
    KernelLease(Fd pipe, std::filesystem::path note)
        : pipe_(std::move(pipe)), note_(std::move(note)) {}

    Fd pipe_;  // its end tells the child
    std::filesystem::path note_;
};

}  // namespace cellblock::gateway::cli
