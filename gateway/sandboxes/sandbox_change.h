// The right to change a sandbox's state, for as long as it is held. Internal to gateway/sandboxes.
#pragma once

#include "gateway/sandboxes/sandbox.h"

namespace cellblock::gateway {

// After wait_for_turn(), without a wait between.
class Sandbox::Change {
  public:
    explicit Change(Sandbox& sandbox) : sandbox_(sandbox) { sandbox_.changing_ = true; }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    ~Change() {
        sandbox_.changing_ = false;
        sandbox_.changed_.notify_all();
    }

  private:
    Sandbox& sandbox_;
};

}  // namespace cellblock::gateway
