// The end of every process: PID 1 inherits all orphans, and whoever waits for a child waits here.
//
// Everything in the agent that starts a process registers its pid with watch(); nothing else in
// the agent calls waitpid(). Owner: Agent. Loop thread only.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <unordered_map>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/signal_set.hpp>

#include "base/clock.h"
#include "base/process.h"

namespace cellblock::vm::agent {

class Reaper {
  public:
    using Handler = std::function<void(ExitStatus)>;

    explicit Reaper(boost::asio::any_io_executor executor);
    void start();
    void stop();

    // Calls `handler` once, from the loop, when `pid` has ended. A kernel that a zygote forked may
    // be dead before its pid reaches us: deaths of the last seconds are remembered for that.
    void watch(pid_t pid, Handler handler);
    void forget(pid_t pid);
    std::size_t reaped() const { return reaped_; }

  private:
    struct Death {
        pid_t pid;
        ExitStatus status;
        Deadline remembered_until;
    };
    void wait_for_signal();
    void sweep();
    void settle(pid_t pid, ExitStatus status);

    boost::asio::any_io_executor executor_;
    boost::asio::signal_set signals_;
    std::unordered_map<pid_t, Handler> watched_;
    std::deque<Death> unclaimed_;
    std::size_t reaped_ = 0;
};

}  // namespace cellblock::vm::agent
