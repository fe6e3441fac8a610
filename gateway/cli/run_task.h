// Runs one coroutine to its end on a loop of its own: for CLI commands that build things.
//
// SIGINT and SIGTERM destroy the coroutine, so that its destructors stop what it had started.
#pragma once

#include <csignal>
#include <exception>
#include <functional>
#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "base/error.h"
#include "base/worker_pool.h"

namespace cellblock::gateway::cli {

// `task` is called once, with workers for what blocks; what it captures must live until this
// returns.
template <typename T>
Result<T> run_task(const std::function<boost::asio::awaitable<Result<T>>(WorkerPool&)>& task) {
    std::optional<Result<T>> result;
    std::exception_ptr thrown;
    {
        boost::asio::io_context loop{1};
        WorkerPool workers;
        boost::asio::signal_set signals(loop, SIGINT, SIGTERM);
        signals.async_wait([&loop](const boost::system::error_code& ec, int) {
            if (!ec) loop.stop();
        });
        boost::asio::co_spawn(loop, task(workers),
                              [&](std::exception_ptr exception, Result<T> value) {
                                  thrown = exception;
                                  result = std::move(value);
                                  loop.stop();
                              });
        loop.run();
    }
    if (thrown) std::rethrow_exception(thrown);
    if (!result) return fail(ErrorCode::cancelled, "interrupted");
    return std::move(*result);
}

}  // namespace cellblock::gateway::cli
