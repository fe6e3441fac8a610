// Which messages of the kernel went to the clients already: a gateway that takes over from one that
// was killed says some of them again.
//
// Bounded by what a gateway keeps for a client that returns. One thread.
#pragma once

#include <deque>
#include <string>
#include <unordered_set>

#include "base/limits.h"

namespace cellblock::kernel_proxy::zmq_door {

class PassedOn {
  public:
    // Whether it is the first time. A message without an id always is.
    bool note(const std::string& msg_id) {
        if (msg_id.empty()) return true;
        if (!ids_.insert(msg_id).second) return false;
        order_.push_back(msg_id);
        if (order_.size() > limits::journal_entries_max) {
            ids_.erase(order_.front());
            order_.pop_front();
        }
        return true;
    }

  private:
    std::unordered_set<std::string> ids_;
    std::deque<std::string> order_;
};

}  // namespace cellblock::kernel_proxy::zmq_door
