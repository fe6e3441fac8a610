// Starting a process as the sandbox's user, in a cgroup, as the leader of its own session.
//
// posix_spawn cannot change user or cgroup, and forking a threaded agent and then working in the
// child is unsafe. So the agent spawns itself as `agent launch ... -- COMMAND`: a fresh process
// that drops what it must and execs. Loop thread only.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "base/error.h"
#include "base/fd.h"

namespace cellblock::vm::agent {

struct LaunchRequest {
    std::vector<std::string> argv;
    std::map<std::string, std::string> environment;
    std::string working_directory;
    std::filesystem::path cgroup_procs;  // empty: stays where the agent is
    uid_t uid = 0;
    gid_t gid = 0;
    int oom_score_adj = 0;
    Fd standard_output;  // absent: /dev/null
    Fd standard_error;

    LaunchRequest() = default;
};

// The new process, unreaped: its end is the Reaper's to tell.
Result<pid_t> launch(boost::asio::any_io_executor executor, LaunchRequest request);

// main() of `agent launch`: only returns when it could not exec (the exit code).
int launcher_main(const std::vector<std::string>& arguments);

}  // namespace cellblock::vm::agent
