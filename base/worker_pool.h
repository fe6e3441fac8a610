// A few threads for what blocks (SQLite, fsync, hashing), so that the loop thread never does.
//
//   auto result = co_await pool.run([path] { return read_file(path, 1024); });
//
// The function runs on a worker thread and must capture only values that nobody else touches; the
// coroutine resumes on its own executor. The queue is bounded: past it run() returns `unavailable`.
//
// The loops that use a pool outlive it: declare it after them. A worker that has handed its result
// back still holds the loop's executor for a moment, and the destructor waits for that.
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/error.h"
#include "base/limits.h"

namespace cellblock {

class WorkerPool {
  public:
    explicit WorkerPool(std::size_t threads = limits::worker_threads) : threads_(threads) {}
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;
    // Waits for what was started.
    ~WorkerPool() { threads_.join(); }

    // `function` returns Result<T>. Precondition: called on a loop thread.
    template <typename Function>
    boost::asio::awaitable<std::invoke_result_t<Function>> run(Function function) {
        using Value = std::invoke_result_t<Function>;
        if (queued_.fetch_add(1) >= limits::worker_queue_max) {
            queued_.fetch_sub(1);
            co_return fail(ErrorCode::unavailable, "too much disk work is waiting",
                           "try again in a moment");
        }
        const auto executor = co_await boost::asio::this_coro::executor;
        // The result travels in a shared slot: a tl::expected of a move-only type is no good
        // argument for a completion signature.
        auto slot = std::make_shared<Slot<Value, Function>>(std::move(function));
        co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void()>(
            [this, slot, executor](auto handler) {
                this->start(slot, executor, std::move(handler));
            },
            boost::asio::use_awaitable);
        co_return std::move(*slot->value);
    }

  private:
    template <typename Value, typename Function>
    struct Slot {
        explicit Slot(Function f) : function(std::move(f)) {}
        Function function;
        std::unique_ptr<Value> value;
    };

    template <typename SlotPointer, typename Handler>
    void start(SlotPointer slot, boost::asio::any_io_executor executor, Handler handler) {
        // The work guard keeps the loop alive while only a worker holds its continuation.
        auto guard =
            boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked);
        boost::asio::post(threads_, [this, slot, guard, handler = std::move(handler)]() mutable {
            using Value = std::remove_cvref_t<decltype(*slot->value)>;
            slot->value = std::make_unique<Value>(slot->function());
            queued_.fetch_sub(1);
            boost::asio::post(guard, std::move(handler));
        });
    }

    boost::asio::thread_pool threads_;
    std::atomic<std::size_t> queued_{0};
};

}  // namespace cellblock
