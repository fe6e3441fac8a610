// The agent's log on the guest's console, which is a file on the host: bounded in rate, so that
// nothing in the guest makes the agent fill it.
#pragma once

#include "base/log.h"

namespace cellblock::vm::agent {

// At most a burst of 200 lines and then 5 a second; what was left out is counted in the next line.
log::Sink bounded_console_sink();

}  // namespace cellblock::vm::agent
