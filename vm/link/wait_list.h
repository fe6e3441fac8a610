// Coroutines that wait for something to happen on the same loop: a condition variable without
// locks.
//
// Cheaper than a timer that never expires, and with the reason for waking. Loop thread only. The
// owner must outlive no waiter: destroying the list wakes them.
#pragma once

#include <list>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/clock.h"

namespace cellblock::vm::link {

enum class WaitResult { notified, cancelled, timed_out };

class WaitList {
  public:
    explicit WaitList(boost::asio::any_io_executor executor);
    WaitList(const WaitList&) = delete;
    WaitList& operator=(const WaitList&) = delete;
    ~WaitList();

    // Resumes (never at once) after a notification or a cancellation. Check the condition again.
    boost::asio::awaitable<WaitResult> wait();
    boost::asio::awaitable<WaitResult> wait_until(Deadline deadline);
    // Wakes the one that has waited longest: it alone sees this notification, and it sees it even
    // if it is cancelled a moment later.
    void notify_one();
    void notify_all();
    bool empty() const { return waiters_.empty(); }

  private:
    struct Waiter;
    template <typename Handler>
    struct WaiterOf;

    boost::asio::awaitable<WaitResult> start(std::unique_ptr<Deadline> deadline);
    static void finish(const std::shared_ptr<Waiter>& waiter, WaitResult result);

    boost::asio::any_io_executor executor_;
    std::list<std::shared_ptr<Waiter>> waiters_;
};

}  // namespace cellblock::vm::link
