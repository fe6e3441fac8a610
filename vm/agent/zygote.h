// The supervisor of the zygote: a Python process that has the libraries loaded and forks a kernel
// on request, in milliseconds instead of seconds.
//
// Started by start(), started again with growing delays when it dies; while it is not there, the
// caller spawns kernels the plain way. Owner: Agent. Loop thread only.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/error.h"
#include "base/json.h"
#include "vm/agent/options.h"
#include "vm/agent/reaper.h"

namespace cellblock::vm::agent {

struct ForkRequest {
    std::string kernel_id;
    std::filesystem::path connection_file;
    std::string working_directory;
    std::map<std::string, std::string> environment;
    std::filesystem::path cgroup_procs;  // empty: none

    ForkRequest() = default;
};

class Zygote {
  public:
    Zygote(boost::asio::any_io_executor executor, const Options& options, Reaper& reaper,
           std::filesystem::path cgroup_procs);
    ~Zygote();
    Zygote(const Zygote&) = delete;
    Zygote& operator=(const Zygote&) = delete;

    // Starts it unless it runs. Failures are retried and logged.
    void start();
    bool started() const { return pid_ > 0; }
    pid_t pid() const { return pid_; }
    // Resumes when it accepts requests. `timeout` at the deadline.
    boost::asio::awaitable<Result<void>> wait_ready(Deadline deadline);
    // The pid of a new kernel process, which is the agent's child to reap.
    boost::asio::awaitable<Result<pid_t>> fork(ForkRequest request, Deadline deadline);

  private:
    void ended(ExitStatus status);

    boost::asio::any_io_executor executor_;
    const Options& options_;
    Reaper& reaper_;
    std::filesystem::path cgroup_procs_;
    boost::asio::steady_timer restart_timer_;
    std::chrono::milliseconds restart_delay_;
    std::chrono::steady_clock::time_point started_at_;
    pid_t pid_ = -1;
};

}  // namespace cellblock::vm::agent
