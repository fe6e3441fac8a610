// The answer to one request: fixed, streamed with backpressure, a file with ranges, or an upgrade.
//
// A handler uses exactly one of send(), send_json(), send_empty(), send_file(), start()+write()+
// finish(), or upgrade(). Header fields are added before that. Every call returns an error once the
// client is gone. Lives as long as the handler. Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/worker_pool.h"
#include "gateway/http/headers.h"
#include "gateway/http/request.h"
#include "gateway/http/wire.h"

namespace cellblock::gateway::http {

struct FileBody {
    Fd fd;  // regular file; read with pread
    std::uint64_t size = 0;
    std::string content_type;
    std::string etag;  // quoted, or empty
    std::optional<WallTime> modified;

    FileBody() = default;
};

class ResponseWriter {
  public:
    // `keep_alive`: whether the connection may go on after this answer.
    ResponseWriter(Wire& wire, Request& request, WorkerPool& workers, bool keep_alive);
    ResponseWriter(const ResponseWriter&) = delete;
    ResponseWriter& operator=(const ResponseWriter&) = delete;

    Headers& headers() { return headers_; }

    boost::asio::awaitable<Result<void>> send(int status, std::string_view content_type,
                                              std::string_view body);
    boost::asio::awaitable<Result<void>> send_json(int status, const Json& body);
    boost::asio::awaitable<Result<void>> send_empty(int status);
    // 200, 206, 304 or 416 by the request's conditions.
    boost::asio::awaitable<Result<void>> send_file(FileBody file);

    // Sends the head at once. An empty content type sends none (E2B's /execute has none).
    boost::asio::awaitable<Result<void>> start(int status, std::string_view content_type);
    // One chunk; resumes when the socket took it. Empty chunks send nothing.
    boost::asio::awaitable<Result<void>> write(std::string_view chunk);
    boost::asio::awaitable<Result<void>> finish();
    // Ends a stream so that the client sees a broken one, not a complete one.
    void abort() { must_close_ = broken_off_ = true; }

    // 101 with the headers set; the handler then owns the connection's bytes until it returns (what
    // came in behind the request is buffered). `on_stop`: the server shuts down, end soon; it is
    // called at most once, and not after the handler has returned.
    boost::asio::awaitable<Result<Wire*>> upgrade(std::function<void()> on_stop);

    // The client closed or reset its connection (see Connection on half-closed ones).
    bool client_gone() const { return client_gone_; }
    // Resumes when that happens.
    boost::asio::awaitable<void> wait_client_gone();
    // A whole chunk that means nothing to the client ({"type":"keepalive"}): the server sends it to
    // learn whether a half-closed client still listens.
    void set_probe(std::string chunk) { probe_ = std::move(chunk); }

    bool started() const { return started_; }
    bool finished() const { return finished_; }
    bool upgraded() const { return upgraded_; }
    bool broken_off() const { return broken_off_; }
    bool must_close() const { return must_close_ || !keep_alive_; }
    int status() const { return status_; }

    // For the connection.
    void mark_client_gone();
    void close_after();
    // Bytes that may be sent now to probe the client; empty when nothing may.
    std::string probe_bytes() const;

  private:
    std::string head(int status, std::string_view content_type);
    boost::asio::awaitable<Result<void>> send_range(FileBody file, std::uint64_t first,
                                                    std::uint64_t size);
    bool is_head_request() const { return request_.method() == "HEAD"; }

    Wire& wire_;
    Request& request_;
    WorkerPool& workers_;
    const bool keep_alive_;
    Headers headers_;
    std::string probe_;
    std::function<void()> on_stop_;
    boost::asio::steady_timer gone_signal_;
    int status_ = 0;
    bool started_ = false;
    bool finished_ = false;
    bool chunked_ = false;
    bool upgraded_ = false;
    bool must_close_ = false;
    bool broken_off_ = false;
    bool client_gone_ = false;
};

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(WallTime time);

}  // namespace cellblock::gateway::http
