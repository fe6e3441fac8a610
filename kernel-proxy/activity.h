// Whether a kernel works, and when somebody last used it, told from what it publishes.
//
// jupyter_server's notion: a message counts unless it belongs to mere looking (kernel_info,
// comm_info, debugging), so that a client which polls keeps no kernel alive. Each request is busy
// from its `busy` to its `idle`; with subshells several are at once. Loop thread only.
#pragma once

#include <set>
#include <string>

#include "base/clock.h"
#include "base/limits.h"
#include "kernel-proxy/message.h"

namespace cellblock::kernel_proxy {

enum class StatusKind { none, busy, idle };

class Activity {
  public:
    // An iopub message; `status` is what it says if it is a status message.
    void note(const Routing& routing, StatusKind status);
    // A client sent a request.
    void note_request(const std::string& msg_type);
    // The process is another one: nothing of the old one runs.
    void reset() { busy_.clear(); }

    bool busy() const { return !busy_.empty(); }
    WallTime last() const { return last_; }

  private:
    std::set<std::string> busy_;  // ids of the requests that run
    WallTime last_ = std::chrono::system_clock::now();
};

}  // namespace cellblock::kernel_proxy
