// The guest's cgroup v2 tree: `system` (agent, zygote: never limited) and `sandbox` (all that the
// user runs), with one child of `sandbox` per kernel process.
//
//   /sys/fs/cgroup/system
//   /sys/fs/cgroup/sandbox            memory.max = the sandbox's limit, no swap, pids.max
//   /sys/fs/cgroup/sandbox/kernel-3   memory.oom.group: a kernel dies with its children or not at
//   all
//
// Plain small files of cgroupfs, which do not block: fine on the loop thread. The root is a
// parameter, so that tests give a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"

namespace cellblock::vm::agent {

struct MemoryUse {
    std::uint64_t used_bytes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t limit_bytes = 0;  // 0: no limit
    std::uint64_t oom_kills = 0;
};

// The cgroup of one kernel process. A handle: the folder lives until remove().
class KernelGroup {
  public:
    explicit KernelGroup(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path procs() const { return path_ / "cgroup.procs"; }
    MemoryUse memory() const;
    bool populated() const;
    // Threads not counted.
    std::size_t processes() const;
    // SIGKILL to every process in it, forks in progress included (cgroup.kill).
    Result<void> kill() const;
    // Fails (unavailable) while a process is left in it.
    Result<void> remove() const;

  private:
    std::filesystem::path path_;
};

struct SandboxUse {
    MemoryUse memory;
    std::uint64_t cpu_usec = 0;
    std::uint64_t processes = 0;
};

class Cgroups {
  public:
    // Makes the two groups, moves the calling process into `system`, turns the controllers on.
    static Result<Cgroups> set_up(std::filesystem::path root);

    Result<void> set_memory_limit(std::uint64_t bytes);
    std::uint64_t memory_limit() const { return memory_limit_bytes_; }
    Result<KernelGroup> make_kernel_group();
    std::filesystem::path system_procs() const { return root_ / "system" / "cgroup.procs"; }
    SandboxUse use() const;

  private:
    explicit Cgroups(std::filesystem::path root) : root_(std::move(root)) {}

    std::filesystem::path root_;
    std::uint64_t memory_limit_bytes_ = 0;
    std::uint64_t made_ = 0;
};

}  // namespace cellblock::vm::agent
