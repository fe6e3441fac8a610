// Starting a coroutine whose end nobody waits for: a failure is logged, never lost.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>

#include "base/log.h"

namespace cellblock {

// `name` is for the log. `keep_alive` is held until the coroutine ends (may be null).
inline void spawn_logged(const boost::asio::any_io_executor& executor,
                         boost::asio::awaitable<void> task, std::string name,
                         std::shared_ptr<void> keep_alive) {
    boost::asio::co_spawn(
        executor, std::move(task),
        [name = std::move(name), keep_alive = std::move(keep_alive)](std::exception_ptr exception) {
            if (!exception) return;
            try {
                std::rethrow_exception(exception);
            } catch (const std::exception& error) {
                log::error("task_failed", {{"task", name}, {"error", error.what()}});
            }
        });
}

}  // namespace cellblock
