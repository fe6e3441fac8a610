#include "gateway/http/request.h"

namespace cellblock::gateway::http {

namespace asio = boost::asio;

BodyReader::BodyReader(Wire& wire, RequestParser parser, const RequestHead& head,
                       std::chrono::milliseconds timeout)
    : wire_(wire), parser_(std::move(parser)), timeout_(timeout) {
    expects_continue_ = head.minor_version > 0 && head.has_body() && head.headers.has("Expect");
}

asio::awaitable<Result<Bytes>> BodyReader::read_some() {
    if (failed_) co_return fail(ErrorCode::connection_lost, "the request body broke off");
    Bytes decoded;
    if (parser_.done()) co_return decoded;
    if (expects_continue_ && may_continue_) {
        expects_continue_ = false;
        constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        const auto sent = co_await wire_.write(as_bytes(go_on));
        if (!sent) co_return fail(sent.error());
    }
    while (decoded.empty() && !parser_.done()) {
        const auto taken = parser_.parse_body(as_bytes(wire_.buffered()), decoded);
        if (!taken) {
            failed_ = true;
            co_return fail(taken.error());
        }
        wire_.consume(*taken);
        if (!decoded.empty() || parser_.done()) break;
        if (*taken > 0 && !wire_.buffered().empty()) continue;
        if (wire_.full()) {
            failed_ = true;
            co_return fail(ErrorCode::invalid_argument, "a chunk's header is too long");
        }
        const auto received = co_await wire_.fill(std::chrono::steady_clock::now() + timeout_);
        if (!received || *received == 0) {
            failed_ = true;
            if (!received) co_return fail(received.error());
            co_return fail(ErrorCode::connection_lost, "the request body is incomplete");
        }
    }
    bytes_read_ += decoded.size();
    if (bytes_read_ > max_bytes_) {
        failed_ = true;
        co_return fail(ErrorCode::too_large,
                       "the request body is larger than " + std::to_string(max_bytes_) + " bytes");
    }
    co_return decoded;
}

const std::string& Request::param(std::string_view name) const {
    static const std::string none;
    for (const auto& [key, value] : params_) {
        if (key == name) return value;
    }
    return none;
}

asio::awaitable<Result<std::string>> Request::read_all(std::size_t max_bytes) {
    std::string text;
    while (true) {
        auto piece = co_await read_some();
        if (!piece) co_return fail(std::move(piece).error());
        if (piece->empty()) co_return text;
        if (text.size() + piece->size() > max_bytes) {
            co_return fail(ErrorCode::too_large, "the request body is larger than " +
                                                     std::to_string(max_bytes) + " bytes");
        }
        text.append(as_text(*piece));
    }
}

asio::awaitable<Result<Json>> Request::read_json(std::size_t max_bytes) {
    auto text = co_await read_all(max_bytes);
    if (!text) co_return fail(std::move(text).error());
    if (text->find_first_not_of(" \t\r\n") == std::string::npos) co_return Json::object();
    co_return parse_json(*text, JsonLimits{max_bytes}, "the request body");
}

}  // namespace cellblock::gateway::http
