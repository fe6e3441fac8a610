#include "vm/link/call.h"

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/limits.h"
#include "base/log.h"

namespace cellblock::vm::link {
namespace {

using boost::asio::awaitable;

constexpr JsonLimits kCallLimits{limits::link_call_max_bytes};

tl::unexpected<Error> malformed_reply(const std::string& method) {
    return fail(ErrorCode::guest_protocol,
                "the sandbox's reply to " + method + " is not what the protocol says");
}

std::string text_field(const Json& object, const char* field) {
    auto text = optional_string(object, field);
    return text && *text ? std::move(**text) : std::string();
}

Result<Json> parse_reply(ByteView bytes, const std::string& method) {
    auto reply = parse_json(as_text(bytes), kCallLimits, "a call's reply");
    if (!reply || !reply->is_object()) return malformed_reply(method);
    const auto error = reply->find("error");
    if (error != reply->end()) {
        if (!error->is_object()) return malformed_reply(method);
        return fail(error_code_from(text_field(*error, "code")), text_field(*error, "message"),
                    text_field(*error, "advice"));
    }
    const auto result = reply->find("result");
    if (result == reply->end() || !result->is_object()) return malformed_reply(method);
    return std::move(*result);
}

awaitable<Result<Json>> exchange(StreamPtr stream, std::string method, std::string request) {
    const auto written = co_await stream->write_message(as_bytes(request));
    if (!written) co_return fail(written.error());
    const auto finished = co_await stream->finish();
    if (!finished) co_return fail(finished.error());
    const auto reply = co_await stream->read_message(limits::link_call_max_bytes);
    if (!reply) co_return fail(reply.error());
    if (!*reply) co_return malformed_reply(method);
    co_return parse_reply(**reply, method);
}

struct Request {
    std::string method;
    Json params;
};

Result<Request> parse_request(ByteView bytes) {
    CB_TRY_ASSIGN(json, parse_json(as_text(bytes), kCallLimits, "a call"));
    if (!json.is_object()) return fail(ErrorCode::invalid_argument, "a call is not an object");
    Request request;
    CB_TRY_ASSIGN(method, required_string(json, "method"));
    request.method = std::move(method);
    const auto params = json.find("params");
    request.params = params == json.end() ? Json::object() : std::move(*params);
    if (!request.params.is_object()) {
        return fail(ErrorCode::invalid_argument,
                    "the params of " + request.method + " are not an object");
    }
    return request;
}

std::string encode_reply(const Result<Json>& result) {
    Json reply;
    if (result) {
        reply["result"] = *result;
    } else {
        reply["error"] = {{"code", to_string(result.error().code)},
                          {"message", result.error().cause},
                          {"advice", result.error().advice}};
    }
    std::string text = dump_ascii(reply);
    if (text.size() <= limits::link_call_max_bytes) return text;
    const Result<Json> refusal =
        fail(ErrorCode::too_large, "the reply is too large for a call", "ask for less at once");
    return encode_reply(refusal);
}

using Handlers = std::map<std::string, CallServer::Handler>;

awaitable<Result<Json>> run_handler(std::shared_ptr<Handlers> handlers, StreamPtr stream) {
    const auto bytes = co_await stream->read_message(limits::link_call_max_bytes);
    if (!bytes) co_return fail(bytes.error());
    if (!*bytes) co_return fail(ErrorCode::invalid_argument, "an empty call");
    auto request = parse_request(**bytes);
    if (!request) co_return fail(request.error());
    const auto found = handlers->find(request->method);
    if (found == handlers->end()) {
        co_return fail(ErrorCode::not_supported,
                       "the sandbox's agent does not know the call " + request->method,
                       "build the template anew with this version of cellblock");
    }
    try {
        co_return co_await found->second(std::move(request->params));
    } catch (const std::exception& exception) {
        co_return fail(ErrorCode::internal, request->method + " threw: " + exception.what());
    }
}

awaitable<void> serve_call(std::shared_ptr<Handlers> handlers, StreamPtr stream) {
    const auto result = co_await run_handler(std::move(handlers), stream);
    const std::string reply = encode_reply(result);
    const auto written = co_await stream->write_message(as_bytes(reply));
    if (written) co_await stream->finish();
}

}  // namespace

awaitable<Result<Json>> call(Link& link, std::string method, Json params,
                             std::chrono::milliseconds timeout) {
    if (params.is_null()) params = Json::object();
    Json request;
    request["method"] = method;
    request["params"] = std::move(params);
    std::string text = dump_ascii(request);
    if (text.size() > limits::link_call_max_bytes) {
        co_return fail(ErrorCode::too_large, "the parameters of " + method + " are too large");
    }
    StreamPtr stream = link.open(StreamKind::call, "");
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, timeout);
    // The deadline resets the stream, which fails whatever the call waits for. A weak pointer: a
    // cancelled call drops the stream at once.
    timer.async_wait([weak = std::weak_ptr<Stream>(stream),
                      method](boost::system::error_code error) {
        const auto late = weak.lock();
        if (error || !late) return;
        late->reset(Error(ErrorCode::timeout, "the sandbox did not answer " + method + " in time"));
    });
    co_return co_await exchange(std::move(stream), std::move(method), std::move(text));
}

CallServer::CallServer(boost::asio::any_io_executor executor)
    : executor_(std::move(executor)), handlers_(std::make_shared<Handlers>()) {}

void CallServer::add(std::string method, Handler handler) {
    handlers_->insert_or_assign(std::move(method), std::move(handler));
}

void CallServer::serve(StreamPtr stream) {
    boost::asio::co_spawn(executor_, serve_call(handlers_, std::move(stream)),
                          [](std::exception_ptr exception) {
                              if (exception) log::error("link_call_failed");
                          });
}

}  // namespace cellblock::vm::link
