#include "vm/agent/json_socket.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "base/awaitable.h"
#include "base/limits.h"
#include "vm/agent/deadline.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;
using asio::local::stream_protocol;
constexpr std::size_t answer_max_bytes = 64 * limits::KiB;

asio::awaitable<Result<Json>> exchange(std::filesystem::path path, std::string line,
                                       std::string whom) {
    stream_protocol::socket socket(co_await asio::this_coro::executor);
    const stream_protocol::endpoint endpoint(path.string());
    auto [connect_error] = co_await socket.async_connect(endpoint, as_tuple_awaitable);
    if (connect_error) {
        co_return fail(ErrorCode::unavailable,
                       "cannot reach " + whom + ": " + connect_error.message());
    }
    auto [write_error, written] =
        co_await asio::async_write(socket, asio::buffer(line), as_tuple_awaitable);
    if (write_error) {
        co_return fail(ErrorCode::io, "asking " + whom + ": " + write_error.message());
    }
    std::string answer;
    auto buffer = asio::dynamic_buffer(answer, answer_max_bytes);
    auto [read_error, size] =
        co_await asio::async_read_until(socket, buffer, '\n', as_tuple_awaitable);
    if (read_error) {
        co_return fail(ErrorCode::io, "the answer of " + whom + ": " + read_error.message());
    }
    answer.resize(size);
    CB_CO_TRY_ASSIGN(json, parse_json(answer, JsonLimits{answer_max_bytes}, whom));
    if (json.is_object() && json.contains("error")) {
        const Json& error = json["error"];
        co_return fail(ErrorCode::io,
                       whom + ": " + (error.is_string() ? error.get<std::string>() : error.dump()));
    }
    co_return json;
}

}  // namespace

asio::awaitable<Result<Json>> ask(std::filesystem::path socket, Json question, Deadline deadline,
                                  std::string whom) {
    const std::string what = "the answer of " + whom;
    std::string line = dump_ascii(question) + "\n";
    auto exchanged = exchange(std::move(socket), std::move(line), std::move(whom));
    co_return co_await within(deadline, what, std::move(exchanged));
}

}  // namespace cellblock::vm::agent
