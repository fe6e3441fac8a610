// Runs one coroutine to its end on a fresh run of `loop`.
#pragma once

#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace cellblock::vm {

template <typename T>
T run_on(boost::asio::io_context& loop, boost::asio::awaitable<T> task) {
    std::optional<T> result;
    boost::asio::co_spawn(loop, std::move(task), [&result](std::exception_ptr error, T value) {
        if (error) std::rethrow_exception(error);
        result.emplace(std::move(value));
    });
    loop.restart();
    while (!result && loop.run_one() > 0) {
    }
    return std::move(*result);
}

}  // namespace cellblock::vm
