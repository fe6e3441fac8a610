// A bound on a wait: the operation is cancelled when the deadline passes.
#pragma once

#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/clock.h"
#include "base/error.h"

namespace cellblock::vm::agent {

// `what` completes "... took too long": "the zygote's answer". It must outlive the call.
template <typename T>
boost::asio::awaitable<Result<T>> within(Deadline deadline, std::string_view what,
                                         boost::asio::awaitable<Result<T>> operation) {
    using boost::asio::experimental::awaitable_operators::operator||;
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, deadline);
    auto expiry = timer.async_wait(as_tuple_awaitable);
    auto outcome = co_await (std::move(operation) || std::move(expiry));
    if (outcome.index() == 0) co_return std::move(std::get<0>(outcome));
    co_return fail(ErrorCode::timeout, std::string(what) + " took too long");
}

inline Deadline after(std::chrono::milliseconds time) {
    return std::chrono::steady_clock::now() + time;
}

}  // namespace cellblock::vm::agent
