#include "kernel-proxy/execution.h"

#include <utility>

#include <boost/asio/this_coro.hpp>

namespace cellblock::kernel_proxy {

Execution::Execution(boost::asio::any_io_executor executor, ExecuteRequest request)
    : request_(std::move(request)), changed_(std::move(executor)) {}

std::shared_ptr<Execution> Execution::copy(boost::asio::any_io_executor executor) const {
    auto copy = std::make_shared<Execution>(std::move(executor), request_);
    copy->state_ = state_;
    copy->abandoned_ = abandoned_;
    copy->events_ = events_;
    copy->queued_bytes_ = queued_bytes_;
    copy->heard_through_ = heard_through_;
    return copy;
}

boost::asio::awaitable<bool> Execution::wait_for_event(Deadline deadline) {
    while (events_.empty()) {
        if (!co_await changed_.wait_until(deadline)) co_return false;
        // A consumer whose coroutine was cancelled (its client is gone) must not wait on.
        const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != boost::asio::cancellation_type::none) co_return false;
    }
    co_return true;
}

boost::asio::awaitable<std::optional<OutputEvent>> Execution::next(Deadline deadline) {
    if (!co_await wait_for_event(deadline)) co_return std::nullopt;
    Queued first = std::move(events_.front());
    events_.pop_front();
    queued_bytes_ -= first.bytes;
    taken_through_ = first.position;
    changed_.notify_all();
    co_return std::move(first.event);
}

void Execution::stop(StopReason reason) {
    if (state_ == ExecutionState::finished || stop_reason_ != StopReason::none) return;
    stop_reason_ = reason;
    // Copied: what it calls may finish() this execution, which lets go of the listener.
    const auto listener = on_stop_;
    if (listener) listener();
}

void Execution::discard() {
    abandoned_ = true;
    events_.clear();
    queued_bytes_ = 0;
    changed_.notify_all();
}

void Execution::abandon() {
    discard();
    stop(StopReason::cancelled);
}

void Execution::keep_by(std::weak_ptr<ExecutionKeeper> keeper) {
    keeper_ = std::move(keeper);
    kept_ = true;
    for (const Queued& queued : events_) {
        if (unsettled_.empty() || unsettled_.back() < queued.position) {
            unsettled_.push_back(queued.position);
        }
    }
}

void Execution::heard(std::uint64_t position) {
    heard_through_ = position;
    if (kept_) unsettled_.push_back(position);
}

std::optional<std::uint64_t> Execution::first_unsettled() const {
    if (unsettled_.empty()) return std::nullopt;
    return unsettled_.front();
}

void Execution::settle(std::uint64_t position) {
    while (!unsettled_.empty() && unsettled_.front() <= position) unsettled_.pop_front();
    if (position == UINT64_MAX) kept_ = false;
    if (on_settled_) on_settled_();
}

void Execution::set_running() {
    state_ = ExecutionState::running;
}

boost::asio::awaitable<void> Execution::deliver(OutputEvent event, std::size_t bytes) {
    if (abandoned_ || state_ == ExecutionState::finished) co_return;
    events_.push_back(Queued{std::move(event), bytes, heard_through_});
    queued_bytes_ += bytes;
    changed_.notify_all();
    while (queued_bytes_ > limits::execution_queue_max_bytes && !abandoned_ &&
           state_ != ExecutionState::finished) {
        co_await changed_.wait();
    }
}

void Execution::finish(Finished finished) {
    if (state_ == ExecutionState::finished) return;
    state_ = ExecutionState::finished;
    on_stop_ = nullptr;
    if (!abandoned_) events_.push_back(Queued{std::move(finished), 0, heard_through_});
    changed_.notify_all();
}

}  // namespace cellblock::kernel_proxy
