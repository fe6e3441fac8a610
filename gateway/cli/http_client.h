// The CLI's client of a running gateway: libcurl, blocking, one connection.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "gateway/config/config.h"

namespace cellblock::gateway::cli {

struct HttpReply {
    int status = 0;
    std::string body;                            // empty when it was streamed
    std::map<std::string, std::string> headers;  // lower-case names

    HttpReply() = default;
};

struct HttpCall {
    std::string method = "GET";
    std::string path;  // "/sandboxes?x=y", or a whole URL of this gateway
    std::vector<std::string> headers;
    std::string body;
    // Receives the body of a 200 answer as it arrives.
    std::function<void(std::string_view)> on_data;
    std::chrono::seconds timeout{0};  // for all of it; 0: none
    // Asked about once a second: true gives the call up.
    std::function<bool()> cancelled;

    HttpCall() = default;
};

// A connection to the gateway, TLS included, that is not HTTP (any more). Nothing waits: 0 bytes
// moved means "not now", connection_lost the end.
class GatewayStream {
  public:
    virtual ~GatewayStream() = default;
    virtual int descriptor() const = 0;
    virtual Result<std::size_t> read(std::span<std::byte> to) = 0;
    virtual Result<std::size_t> write(std::span<const std::byte> from) = 0;
};

class HttpClient {
  public:
    // Where, by strength: `url` unless it is empty, CELLBLOCK_URL, `config`'s listen address. The
    // token: CELLBLOCK_TOKEN, else the token file.
    static Result<HttpClient> for_gateway(const config::Config& config, std::string url = {});

    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;
    ~HttpClient();

    // Any answer is a reply; errors are for connections that fail, and say what to do.
    Result<HttpReply> call(const HttpCall& call);
    // As call(), but an answer outside 2xx is an error with the gateway's own message.
    Result<HttpReply> expect_success(const HttpCall& call);
    const std::string& url() const;

    // A connection of its own, for an upgrade; the caller writes the request.
    Result<std::unique_ptr<GatewayStream>> open_stream() const;
    // The value of the header Authorization.
    std::string authorization() const;

  private:
    class Impl;
    explicit HttpClient(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace cellblock::gateway::cli
