// A memory and process-count limit on the host around one VM, where this process may make one:
// cgroup v2 (a delegated subtree, or root) or v1. Without one the VM still runs, bounded by its RAM
// and its rlimits; doctor reports it.
//
// Owner: QemuProcess. The destructor removes the group, which must be empty by then. Blocking calls
// on kernel files only: microseconds.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace cellblock::vm {

struct CgroupRoot {
    enum class Version { none, v1, v2 };
    Version version = Version::none;
    // Folders under which groups are made: one for v2, memory's and pids' for v1 (either may lack).
    std::filesystem::path memory;
    std::filesystem::path tasks;
    std::string reason;  // one sentence, also when there is none

    CgroupRoot() = default;
};

// Looks under `mount` (tests use a folder of their own).
CgroupRoot find_cgroup_root(const std::filesystem::path& mount = "/sys/fs/cgroup");

class HostCgroup {
  public:
    // not_supported when `root` has no cgroups.
    static Result<std::unique_ptr<HostCgroup>> create(const CgroupRoot& root, const std::string& id,
                                                      std::uint64_t memory_max_bytes,
                                                      std::uint64_t tasks_max);
    // The group that an earlier gateway made for a VM; null when there is none.
    static std::unique_ptr<HostCgroup> open(const CgroupRoot& root, const std::string& id);
    ~HostCgroup();
    HostCgroup(const HostCgroup&) = delete;
    HostCgroup& operator=(const HostCgroup&) = delete;

    Result<void> add(pid_t pid);
    Result<void> set_memory_max(std::uint64_t bytes);
    // Leaves the group in place (a VM that outlives its gateway).
    void release() { folders_.clear(); }

  private:
    HostCgroup() = default;
    CgroupRoot::Version version_ = CgroupRoot::Version::none;
    std::filesystem::path memory_;  // of this VM; empty: no such limit
    std::vector<std::filesystem::path> folders_;
};

// A limit for all machines of this host together; gateways share it.
Result<void> set_memory_max_of_all(const CgroupRoot& root, std::uint64_t bytes);

// Removes empty groups that crashed gateways left.
void sweep_cgroups(const CgroupRoot& root);

}  // namespace cellblock::vm
