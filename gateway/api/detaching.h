// The part of POST /execute that lets a cell go on without its caller: when ("detach_after" after
// the cell has begun), and what the caller has by then.
//
// One per execution, owned by its handler. What it begins outlives a handler that is cancelled:
// copying a machine must not stop in the middle. Loop thread only.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/condition.h"
#include "gateway/jobs/jobs.h"

namespace cellblock::gateway::api {

class Detaching {
  public:
    // `after` of nothing: never.
    Detaching(boost::asio::any_io_executor executor, jobs::Jobs& jobs,
              std::optional<std::chrono::milliseconds> after, jobs::DetachRequest request);

    // Lines that the caller got; the job begins with them.
    void note(const std::vector<Json>& lines);
    // When it is time; Deadline::max() while that is not known, or never.
    Deadline due() const { return due_; }

    void begin();
    // Whether what was begun is done.
    boost::asio::awaitable<bool> wait_until(Deadline deadline);
    // Then: the job; null when the cell has ended by itself; or why it cannot be let go of.
    Result<jobs::JobPointer> take();

  private:
    struct Attempt;
    static boost::asio::awaitable<void> run(std::shared_ptr<Attempt> attempt, jobs::Jobs& jobs);

    boost::asio::any_io_executor executor_;
    jobs::Jobs& jobs_;
    const std::optional<std::chrono::milliseconds> after_;
    Deadline due_ = Deadline::max();
    jobs::DetachRequest request_;
    std::shared_ptr<Attempt> attempt_;
};

}  // namespace cellblock::gateway::api
