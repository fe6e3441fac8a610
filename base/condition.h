// What coroutines of one loop wait for: "something changed, look again".
//
//   while (!ready) co_await condition.wait();          // or
//   while (!ready && co_await condition.wait_until(deadline)) {}
//
// Loop thread only. A notification wakes everyone who waits at that moment and is not remembered:
// the state itself is the memory, so check it first. The condition must outlive its waiters' wait.
#pragma once

#include <list>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"
#include "base/clock.h"

namespace cellblock {

class Condition {
  public:
    explicit Condition(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    void notify_all() {
        for (boost::asio::steady_timer* timer : waiters_) timer->cancel();
    }

    boost::asio::awaitable<void> wait() { co_await wait_until(Deadline::max()); }

    // True: notified (or the coroutine was cancelled); false: the deadline passed.
    boost::asio::awaitable<bool> wait_until(Deadline deadline) {
        boost::asio::steady_timer timer(executor_, deadline);
        const Registration registration(waiters_, timer);
        const auto [error] = co_await timer.async_wait(as_tuple_awaitable);
        co_return error.failed();
    }

  private:
    using Waiters = std::list<boost::asio::steady_timer*>;
    struct Registration {
        Registration(Waiters& waiters, boost::asio::steady_timer& timer)
            : list(waiters), position(waiters.insert(waiters.end(), &timer)) {}
        Registration(const Registration&) = delete;
        Registration& operator=(const Registration&) = delete;
        ~Registration() { list.erase(position); }
        Waiters& list;
        Waiters::iterator position;
    };

    boost::asio::any_io_executor executor_;
    Waiters waiters_;
};

}  // namespace cellblock
