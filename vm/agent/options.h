// What the agent is told at start: by nobody in a guest (the defaults are the guest's layout), by
// flags when it runs as a normal process on a host, for tests and development.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace cellblock::vm::agent {

enum class Mode {
    guest,    // PID 1 of a microVM: mounts, cgroups, clock and entropy are ours to set
    rootless  // a process among others: none of that, kernels run as the caller
};

struct Options {
    Mode mode = Mode::guest;
    // guest: the virtio-serial port (found by name when empty). rootless: a socket we listen on.
    std::filesystem::path socket;
    std::filesystem::path run_dir = "/run/cellblock";
    std::filesystem::path cgroup_root = "/sys/fs/cgroup";
    std::string python = "/usr/bin/python3";
    std::string python_path = "/opt/cellblock/python";
    std::string home = "/home/user";
    uid_t uid = 1000;
    gid_t gid = 1000;

    Options() = default;
    std::filesystem::path kernels_dir() const { return run_dir / "kernels"; }
    std::filesystem::path zygote_socket() const { return run_dir / "zygote.sock"; }
    std::filesystem::path artifacts_dir() const { return run_dir / "artifacts"; }
};

// The usage text that goes with parse_options().
std::string usage();

// invalid_argument with what is wrong. The kernel passes words of its command line that it does not
// know to init, so in guest mode unknown words are ignored.
Result<Options> parse_options(const std::vector<std::string>& arguments);

// What the zygote and the kernels start with: nothing of the agent's own environment in a guest. (A
// kernel takes PYTHONPATH and the thread counts out again before the user's code runs.)
std::map<std::string, std::string> python_environment(const Options& options);

}  // namespace cellblock::vm::agent
