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
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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

// Who keeps a record of an execution, so that it outlives the gateway. The Kernel calls, on the
// loop; nothing here may wait.
class ExecutionKeeper {
  public:
    virtual ~ExecutionKeeper() = default;
    // The cell goes to the kernel, under this message header; its output comes after `position`.
    virtual void sending(std::string_view header, std::uint64_t position) = 0;
    // The kernel's reply is here. It may overtake the last output, and is forgotten with it.
    virtual void answered(std::string_view status) = 0;
    // The guest is told next that it may forget what it said up to `position`.
    virtual void acknowledging(std::uint64_t position) = 0;
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

    // What the kernel said of this execution is settled by its consumer from now on, and the guest
    // keeps it until then. Before it is given to a kernel; of a copy, before its events are taken.
    void keep_by(std::weak_ptr<ExecutionKeeper> keeper);
    std::shared_ptr<ExecutionKeeper> keeper() const { return keeper_.lock(); }

    // --- the consumer's side ---
    // The next event in order; std::nullopt when none came by the deadline, or when the calling
    // coroutine was cancelled. Not after Finished was
    // taken.
    boost::asio::awaitable<std::optional<OutputEvent>> next(Deadline deadline);
    // Whether next() would not wait; false as it.
    boost::asio::awaitable<bool> wait_for_event(Deadline deadline);
    // Of the kernel's message of which the last event taken was made.
    std::uint64_t taken_through() const { return taken_through_; }
    // What came of the messages up to `position` is on disk.
    void settle(std::uint64_t position);
    void settle_all() { settle(UINT64_MAX); }
    // Asks for an end: a queued execution is dropped, a running one interrupted, then forced.
    void stop(StopReason reason);
    // Nobody listens: what still comes is thrown away, and the cell goes on.
    void discard();
    // The consumer is gone: as discard(), and stop(cancelled).
    void abandon();

    // --- the Kernel's side ---
    void set_running();
    // The kernel said something of this execution: event or not, it is settled with what follows.
    void heard(std::uint64_t position);
    std::optional<std::uint64_t> first_unsettled() const;
    void set_settle_listener(std::function<void()> listener) { on_settled_ = std::move(listener); }
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
        std::uint64_t position;
    };

    ExecuteRequest request_;
    ExecutionState state_ = ExecutionState::queued;
    StopReason stop_reason_ = StopReason::none;
    bool abandoned_ = false;
    std::function<void()> on_stop_;
    std::deque<Queued> events_;
    std::size_t queued_bytes_ = 0;
    std::weak_ptr<ExecutionKeeper> keeper_;
    bool kept_ = false;
    std::deque<std::uint64_t> unsettled_;  // positions, rising
    std::uint64_t heard_through_ = 0;
    std::uint64_t taken_through_ = 0;
    std::function<void()> on_settled_;
    Condition changed_;
};

}  // namespace cellblock::kernel_proxy
