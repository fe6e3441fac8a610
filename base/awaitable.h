// How our coroutines await Asio's operations: an error code is a value, never an exception.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace cellblock {

// `const auto [error, size] = co_await socket.async_read_some(buffer, as_tuple_awaitable);`
inline constexpr auto as_tuple_awaitable = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace cellblock
