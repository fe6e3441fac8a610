#include "gateway/http/response.h"

#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/awaitable.h"
#include "base/limits.h"
#include "gateway/http/range.h"
#include "gateway/http/status.h"

namespace cellblock::gateway::http {

namespace asio = boost::asio;

std::string http_date(WallTime time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[64];
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);  // the C locale
    return text;
}

ResponseWriter::ResponseWriter(Wire& wire, Request& request, WorkerPool& workers, bool keep_alive)
    : wire_(wire),
      request_(request),
      workers_(workers),
      keep_alive_(keep_alive),
      gone_signal_(wire.stream().get_executor(), Deadline::max()) {}

std::string ResponseWriter::head(int status, std::string_view content_type) {
    status_ = status;
    started_ = true;
    request_.body().answer_started();
    std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
    text += reason_phrase(status);
    text += "\r\nDate: " + http_date(std::chrono::system_clock::now());
    if (!content_type.empty()) {
        text += "\r\nContent-Type: ";
        text += content_type;
    }
    for (const auto& [name, value] : headers_.items()) {
        // A value that splits the head would be our own bug; it is cut, not sent.
        text += "\r\n" + name + ": " + value.substr(0, value.find_first_of("\r\n"));
    }
    if (!headers_.has("X-Content-Type-Options")) text += "\r\nX-Content-Type-Options: nosniff";
    // A body that nobody read would be taken for the next request.
    if (!request_.body().at_end() && request_.body().awaiting_continue()) must_close_ = true;
    if (!upgraded_) {
        if (must_close()) {
            text += "\r\nConnection: close";
        } else if (request_.head().minor_version == 0) {
            text += "\r\nConnection: keep-alive";
        }
    }
    return text;
}

asio::awaitable<Result<void>> ResponseWriter::send(int status, std::string_view content_type,
                                                   std::string_view body) {
    if (started_) co_return fail(ErrorCode::internal, "a second answer to one request");
    if (client_gone_) co_return fail(ErrorCode::cancelled, "the client is gone");
    std::string text = head(status, content_type);
    if (status != 204 && status != 304)
        text += "\r\nContent-Length: " + std::to_string(body.size());
    text += "\r\n\r\n";
    const std::string_view sent_body = is_head_request() ? std::string_view() : body;
    auto sent = co_await wire_.write(as_bytes(text), as_bytes(sent_body));
    finished_ = sent.has_value();
    co_return sent;
}

asio::awaitable<Result<void>> ResponseWriter::send_json(int status, const Json& body) {
    const std::string text = dump_ascii(body);
    co_return co_await send(status, "application/json", text);
}

asio::awaitable<Result<void>> ResponseWriter::send_empty(int status) {
    co_return co_await send(status, "", "");
}

asio::awaitable<Result<void>> ResponseWriter::start(int status, std::string_view content_type) {
    if (started_) co_return fail(ErrorCode::internal, "a second answer to one request");
    if (client_gone_) co_return fail(ErrorCode::cancelled, "the client is gone");
    // HTTP/1.0 knows no chunks: there the end of the connection ends the body.
    chunked_ = request_.head().minor_version > 0;
    if (!chunked_) must_close_ = true;
    std::string text = head(status, content_type);
    if (chunked_) text += "\r\nTransfer-Encoding: chunked";
    text += "\r\n\r\n";
    co_return co_await wire_.write(as_bytes(text));
}

asio::awaitable<Result<void>> ResponseWriter::write(std::string_view chunk) {
    if (client_gone_) co_return fail(ErrorCode::cancelled, "the client is gone");
    if (chunk.empty() || is_head_request()) co_return Result<void>();
    if (!chunked_) co_return co_await wire_.write(as_bytes(chunk));
    char size_line[24];
    const int size = std::snprintf(size_line, sizeof size_line, "%zx\r\n", chunk.size());
    const std::string_view prefix(size_line, static_cast<std::size_t>(size));
    constexpr std::string_view suffix = "\r\n";
    co_return co_await wire_.write(as_bytes(prefix), as_bytes(chunk), as_bytes(suffix));
}

asio::awaitable<Result<void>> ResponseWriter::finish() {
    if (client_gone_) co_return fail(ErrorCode::cancelled, "the client is gone");
    if (finished_ || !started_) co_return Result<void>();
    if (chunked_ && !is_head_request()) {
        constexpr std::string_view last = "0\r\n\r\n";
        const auto sent = co_await wire_.write(as_bytes(last));
        if (!sent) co_return fail(sent.error());
    }
    finished_ = true;
    co_return Result<void>();
}

asio::awaitable<Result<void>> ResponseWriter::send_file(FileBody file) {
    const Headers& asked = request_.headers();
    headers_.set("Accept-Ranges", "bytes");
    if (!file.etag.empty()) headers_.set("ETag", file.etag);
    const std::string modified = file.modified ? http_date(*file.modified) : std::string();
    if (!modified.empty()) headers_.set("Last-Modified", modified);
    const auto none_match = asked.get("If-None-Match");
    if (none_match && !file.etag.empty() && etag_matches(*none_match, file.etag)) {
        co_return co_await send_empty(304);
    }
    auto wanted = asked.get("Range");
    if (const auto if_range = asked.get("If-Range"); if_range && wanted) {
        // Only a strong match keeps the range; a date must be the very same one.
        const std::string_view validator = trim(*if_range);
        const bool same = !validator.empty() && (validator == file.etag || validator == modified);
        if (!same) wanted.reset();
    }
    const ByteRange range = select_range(wanted, file.size);
    if (range.verdict == RangeVerdict::unsatisfiable) {
        headers_.set("Content-Range", "bytes */" + std::to_string(file.size));
        const Error error(ErrorCode::invalid_argument,
                          "the range lies outside the " + std::to_string(file.size) + " bytes");
        const ErrorBody body = error_body(ErrorStyle::control_plane, 416, error);
        co_return co_await send(416, body.content_type, body.text);
    }
    if (range.verdict == RangeVerdict::part) {
        headers_.set("Content-Range", "bytes " + std::to_string(range.first) + "-" +
                                          std::to_string(range.first + range.size - 1) + "/" +
                                          std::to_string(file.size));
    }
    status_ = range.verdict == RangeVerdict::part ? 206 : 200;
    co_return co_await send_range(std::move(file), range.first, range.size);
}

asio::awaitable<Result<void>> ResponseWriter::send_range(FileBody file, std::uint64_t first,
                                                         std::uint64_t size) {
    if (started_) co_return fail(ErrorCode::internal, "a second answer to one request");
    std::string text = head(status_, file.content_type);
    text += "\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
    if (auto sent = co_await wire_.write(as_bytes(text)); !sent) co_return sent;
    std::uint64_t left = is_head_request() ? 0 : size;
    while (left > 0) {
        const std::size_t want =
            static_cast<std::size_t>(std::min<std::uint64_t>(left, limits::http_piece_bytes));
        const int fd = file.fd.get();
        auto read_piece = [fd, first, want]() -> Result<Bytes> {
            Bytes piece(want);
            ssize_t got = -1;
            do {
                got = ::pread(fd, piece.data(), want, static_cast<off_t>(first));
            } while (got < 0 && errno == EINTR);
            if (got < 0) return fail(error_from_errno(errno, "read a file that is being sent"));
            if (got == 0) return fail(ErrorCode::io, "a file became shorter while it was sent");
            piece.resize(static_cast<std::size_t>(got));
            return piece;
        };
        // The descriptor outlives the read: this coroutine holds `file` until the worker is done,
        // because run() does not take part in cancellation.
        auto piece = co_await workers_.run(std::move(read_piece));
        if (!piece) {
            abort();
            co_return fail(std::move(piece).error());
        }
        if (client_gone_) co_return fail(ErrorCode::cancelled, "the client is gone");
        if (auto sent = co_await wire_.write(*piece); !sent) co_return sent;
        first += piece->size();
        left -= piece->size();
    }
    finished_ = true;
    co_return Result<void>();
}

asio::awaitable<Result<Wire*>> ResponseWriter::upgrade(std::function<void()> on_stop) {
    if (started_) co_return fail(ErrorCode::internal, "a second answer to one request");
    upgraded_ = true;
    must_close_ = true;
    on_stop_ = std::move(on_stop);
    std::string text = head(101, "");
    text += "\r\nConnection: Upgrade\r\n\r\n";
    if (auto sent = co_await wire_.write(as_bytes(text)); !sent) co_return fail(sent.error());
    finished_ = true;
    co_return &wire_;
}

void ResponseWriter::close_after() {
    must_close_ = true;
    if (on_stop_) std::exchange(on_stop_, nullptr)();
}

asio::awaitable<void> ResponseWriter::wait_client_gone() {
    if (client_gone_) co_return;
    // The timer never expires; mark_client_gone() cancels it.
    co_await gone_signal_.async_wait(as_tuple_awaitable);
}

void ResponseWriter::mark_client_gone() {
    client_gone_ = true;
    must_close_ = true;
    gone_signal_.cancel();
}

std::string ResponseWriter::probe_bytes() const {
    if (request_.head().minor_version == 0 || finished_ || upgraded_) return {};
    // Any HTTP/1.1 client skips an interim answer; a stream offers a chunk without meaning.
    if (!started_) return "HTTP/1.1 100 Continue\r\n\r\n";
    if (!chunked_ || probe_.empty()) return {};
    char size_line[24];
    std::snprintf(size_line, sizeof size_line, "%zx\r\n", probe_.size());
    return size_line + probe_ + "\r\n";
}

}  // namespace cellblock::gateway::http
