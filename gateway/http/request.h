// What a handler sees of a request: the head, decoded, and the body as a stream.
//
// Lives in the connection's coroutine for as long as the handler runs. Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "gateway/http/headers.h"
#include "gateway/http/parser.h"
#include "gateway/http/uri.h"
#include "gateway/http/wire.h"

namespace cellblock::gateway::http {

// The body of one request, decoded, in pieces as they arrive.
class BodyReader {
  public:
    BodyReader(Wire& wire, RequestParser parser, const RequestHead& head,
               std::chrono::milliseconds timeout);

    void set_max_bytes(std::uint64_t max_bytes) { max_bytes_ = max_bytes; }
    // Empty: the end. too_large past the route's limit; timeout when the client stalls;
    // connection_lost when it ends in the middle.
    boost::asio::awaitable<Result<Bytes>> read_some();

    bool at_end() const { return parser_.done(); }
    // It broke off, or went over a limit: nothing more can be read.
    bool failed() const { return failed_; }
    std::uint64_t bytes_read() const { return bytes_read_; }
    // An unread rest that the client may still be sending after it asked first and got no
    // "100 Continue".
    bool awaiting_continue() const { return expects_continue_; }
    // The answer has begun: "100 Continue" must not be sent any more.
    void answer_started() { may_continue_ = false; }

  private:
    Wire& wire_;
    RequestParser parser_;
    const std::chrono::milliseconds timeout_;
    std::uint64_t max_bytes_ = 0;
    std::uint64_t bytes_read_ = 0;
    bool expects_continue_ = false;
    bool may_continue_ = true;
    bool failed_ = false;
};

class Request {
  public:
    Request(RequestHead head, Target target, std::string peer, BodyReader& body)
        : head_(std::move(head)), target_(std::move(target)), peer_(std::move(peer)), body_(body) {}
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    const std::string& method() const { return head_.method; }
    // As sent, without the query: for logs and messages.
    const std::string& path() const { return target_.path; }
    const std::vector<std::string>& segments() const { return target_.segments; }
    const Query& query() const { return target_.query; }
    const Headers& headers() const { return head_.headers; }
    const RequestHead& head() const { return head_; }
    // "127.0.0.1:50400"
    const std::string& peer() const { return peer_; }
    // The part of the path that the route calls {name}, decoded; empty when it has none.
    const std::string& param(std::string_view name) const;
    const std::vector<std::pair<std::string, std::string>>& params() const { return params_; }
    // Who is asking: set by the guard.
    const std::string& tenant() const { return tenant_; }

    std::optional<std::uint64_t> content_length() const {
        return head_.chunked ? std::nullopt : std::optional(head_.content_length);
    }
    boost::asio::awaitable<Result<Bytes>> read_some() { return body_.read_some(); }
    boost::asio::awaitable<Result<std::string>> read_all(std::size_t max_bytes);
    // An empty body is an empty object: clients send none where every field is optional.
    boost::asio::awaitable<Result<Json>> read_json(
        std::size_t max_bytes = limits::http_json_body_max_bytes);

    // For the router and the guard.
    void set_params(std::vector<std::pair<std::string, std::string>> params) {
        params_ = std::move(params);
    }
    void set_tenant(std::string tenant) { tenant_ = std::move(tenant); }
    BodyReader& body() { return body_; }

  private:
    RequestHead head_;
    Target target_;
    std::string peer_;
    BodyReader& body_;
    std::vector<std::pair<std::string, std::string>> params_;
    std::string tenant_;
};

}  // namespace cellblock::gateway::http
