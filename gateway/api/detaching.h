// The part of POST /execute that lets a cell go on without its caller: "detach_after" the cell has
// begun. Loop thread only.
#pragma once

#include <chrono>

#include <boost/asio/awaitable.hpp>

#include "gateway/jobs/jobs.h"

namespace cellblock::gateway::api {

// Waits until it is time, or the cell has ended; then the cell goes on as a job, and its execution
// here ends with a line that names it. A cell that cannot be let go of says so in a line, and goes
// on as it was. To be spawned: copying a machine does not stop with its caller.
boost::asio::awaitable<void> detach_when_due(jobs::Jobs& jobs, jobs::DetachRequest request,
                                             std::chrono::milliseconds after);

}  // namespace cellblock::gateway::api
