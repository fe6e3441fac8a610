// Beast's HTTP/1 request parser behind a small sans-I/O face: bytes in, head and body out.
//
// One per request. parser.cc is one of the two sources that include Beast. Feed it only heads that
// check_head() accepted. Trailers are refused; chunk extensions are dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "gateway/http/headers.h"

namespace cellblock::gateway::http {

struct RequestHead {
    std::string method;
    std::string target;
    int minor_version = 1;
    Headers headers;
    bool keep_alive = true;
    bool chunked = false;
    std::uint64_t content_length = 0;  // 0 when chunked or absent

    RequestHead() = default;
    bool has_body() const { return chunked || content_length > 0; }
};

class RequestParser {
  public:
    RequestParser();
    RequestParser(RequestParser&&) noexcept;
    RequestParser& operator=(RequestParser&&) noexcept;
    ~RequestParser();

    // One complete head.
    Result<RequestHead> parse_head(std::string_view head);
    // Takes body bytes from `input` and appends what they decode to. The number taken; 0 means that
    // more input is needed (a chunk header is not complete).
    Result<std::size_t> parse_body(ByteView input, Bytes& decoded);
    // The whole message was read.
    bool done() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace cellblock::gateway::http
