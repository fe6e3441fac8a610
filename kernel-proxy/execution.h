// One execution of one cell: what was asked, and a bounded queue of what comes back.
//
// Two sides share it, both on the loop thread: the Kernel delivers events, one consumer (an HTTP
// response, a job) takes them. When the consumer is slow the queue fills, deliver() waits, and the
// kernel is paced through the link's credit: nothing is lost and nothing grows. When the consumer
// is gone (abandon()) events are dropped and the cell is stopped.
//
//   queued --(Kernel takes it)--> running --(idle and reply, or an end by force)--> finished
//
// Invariant: Finished is delivered exactly once, and nothing after it.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "base/limits.h"
#include "kernel-proxy/output_event.h"

namespace cellblock::kernel_proxy {

struct ExecuteRequest {
    std::string id;    // ours; also what artifacts of this execution are filed under
    std::string code;  // passed on verbatim
    std::map<std::string, std::string> environment;  // for this execution only
    std::chrono::milliseconds timeout = limits::execution_timeout_default;  // from start of running
    ExecuteRequest() = default;
};

enum class ExecutionState { queued, running, finished };
enum class StopReason { none, interrupted, cancelled };

class Execution {
  public:
    Execution(boost::asio::any_io_executor executor, ExecuteRequest request);

    // The same execution in a copy of its kernel: with the events that wait for the consumer, so
    // that its own consumer misses none.
    std::shared_ptr<Execution> copy(boost::asio::any_io_executor executor) const;

    const ExecuteRequest& request() const { return request_; }
    ExecutionState state() const { return state_; }

    // --- the consumer's side ---
    // The next event in order; std::nullopt when none came by the deadline, or when the calling
    // coroutine was cancelled. Not after Finished was
    // taken.
    boost::asio::awaitable<std::optional<OutputEvent>> next(Deadline deadline);
    // Asks for an end: a queued execution is dropped, a running one interrupted, then forced.
    void stop(StopReason reason);
    // Nobody listens: what still comes is thrown away, and the cell goes on.
    void discard();
    // The consumer is gone: as discard(), and stop(cancelled).
    void abandon();

    // --- the Kernel's side ---
    void set_running();
    // Queues the event, then waits while the queue is overfull: an event is never in a waiting
    // coroutine's hands alone, so a copy of the kernel's stream taken at any moment has no gap.
    boost::asio::awaitable<void> deliver(OutputEvent event, std::size_t bytes);
    void finish(Finished finished);
    StopReason stop_reason() const { return stop_reason_; }
    // Whoever runs this execution is told by this that stop() was called.
    void set_stop_listener(std::function<void()> listener) { on_stop_ = std::move(listener); }

  private:
    struct Queued {
        OutputEvent event;
        std::size_t bytes;
    };

    ExecuteRequest request_;
    ExecutionState state_ = ExecutionState::queued;
    StopReason stop_reason_ = StopReason::none;
    bool abandoned_ = false;
    std::function<void()> on_stop_;
    std::deque<Queued> events_;
    std::size_t queued_bytes_ = 0;
    Condition changed_;
};

}  // namespace cellblock::kernel_proxy
