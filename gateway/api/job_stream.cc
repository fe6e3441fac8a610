#include "gateway/api/job_stream.h"

#include <charconv>
#include <utility>

#include "base/condition.h"
#include "base/spawn.h"
#include "gateway/http/websocket.h"
#include "gateway/jobs/job_limits.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using asio::awaitable;
using http::Opcode;
using http::Request;
using http::ResponseWriter;
using http::WebSocket;
using jobs::JobPointer;
using std::chrono::steady_clock;

namespace {

constexpr std::string_view comment = ":\n\n";  // means nothing to an SSE client
// What a client of the stream sends is read and dropped: it has nothing to say.
constexpr std::size_t client_message_max_bytes = 64 * limits::KiB;

Result<std::optional<std::uint64_t>> position_of(const Request& request) {
    std::optional<std::string> given = request.query().get("from");
    if (const auto header = request.headers().get("Last-Event-ID")) given = std::string(*header);
    if (!given) return std::nullopt;
    std::uint64_t position = 0;
    const auto [end, ec] = std::from_chars(given->data(), given->data() + given->size(), position);
    if (ec != std::errc() || end != given->data() + given->size()) {
        return fail(ErrorCode::invalid_argument, "the position must be a whole number",
                    "0, or the id of an event that the stream sent");
    }
    return position;
}

// Gives `take` each line of a piece with the position behind it.
template <typename Take>
void for_each_line(std::string_view piece, std::uint64_t& position, Take take) {
    while (!piece.empty()) {
        const std::size_t size = piece.find('\n') + 1;
        position += size;
        take(piece.substr(0, size - 1), position);
        piece.remove_prefix(size);
    }
}

// A place in a job's output.
class JobReader {
  public:
    JobReader(jobs::Jobs& jobs, JobPointer job, std::uint64_t from)
        : jobs_(jobs), job_(std::move(job)), position_(from) {}

    // What comes next; empty: nothing now.
    awaitable<Result<std::string>> next() {
        return jobs_.read(job_, position_, jobs::job_stream_piece_bytes);
    }
    bool at_end() const { return position_ >= job_->output_end && !job_->running(); }
    bool up_to_date() const { return position_ >= job_->output_end && job_->running(); }
    std::uint64_t& position() { return position_; }
    jobs::Job& job() { return *job_; }

  private:
    jobs::Jobs& jobs_;
    JobPointer job_;
    std::uint64_t position_;
};

awaitable<Result<void>> send_events(JobReader reader, ResponseWriter& writer) {
    writer.headers().set("Cache-Control", "no-store");
    writer.headers().set("X-Accel-Buffering", "no");  // nginx would keep events back
    writer.set_probe(std::string(comment));
    CB_CO_TRY(co_await writer.start(200, "text/event-stream"));
    while (!reader.at_end()) {
        if (writer.client_gone()) co_return fail(ErrorCode::cancelled, "the client is gone");
        CB_CO_TRY_ASSIGN(piece, co_await reader.next());
        if (piece.empty()) {
            if (!reader.up_to_date()) continue;
            const auto deadline = steady_clock::now() + jobs::job_keepalive_interval;
            if (!co_await reader.job().changed.wait_until(deadline)) {
                CB_CO_TRY(co_await writer.write(comment));
            }
            continue;
        }
        std::string events;
        for_each_line(piece, reader.position(), [&events](auto line, std::uint64_t behind) {
            events += "id: " + std::to_string(behind) + "\ndata: ";
            events += line;
            events += "\n\n";
        });
        CB_CO_TRY(co_await writer.write(events));
    }
    const std::string last = "event: job\nid: " + std::to_string(reader.position()) +
                             "\ndata: " + dump_ascii(jobs::job_json(reader.job().record)) + "\n\n";
    CB_CO_TRY(co_await writer.write(last));
    co_return co_await writer.finish();
}

// One client by WebSocket: the handler's coroutine reads, a second one writes.
class JobSocket {
  public:
    JobSocket(asio::any_io_executor executor, JobReader reader)
        : executor_(executor), reader_(std::move(reader)), wake_(executor) {}

    awaitable<Result<void>> run(Request& request, ResponseWriter& writer) {
        http::WebSocketOptions options;
        options.message_max_bytes = client_message_max_bytes;
        options.wake = [this] { reader_.job().changed.notify_all(); };
        CB_CO_TRY_ASSIGN(socket, co_await WebSocket::accept(request, writer, std::move(options)));
        socket_ = std::move(socket);
        writing_ = true;
        spawn_logged(executor_, write(), "job_stream_writer", nullptr);
        while (co_await socket_->read()) {
        }
        while (writing_) co_await wake_.wait();
        co_return Result<void>();
    }

  private:
    awaitable<void> write() {
        while (co_await socket_->keep_up()) {
            // Between this look and the wait nothing can happen that the wait would miss.
            if (socket_->closing() || reader_.up_to_date()) {
                co_await reader_.job().changed.wait_until(socket_->next_ping());
            } else if (!co_await write_more()) {
                break;
            }
        }
        writing_ = false;
        wake_.notify_all();
    }

    // Whether more can be written.
    awaitable<bool> write_more() {
        auto piece = co_await reader_.next();
        if (!piece) {
            socket_->begin_close(
                http::CloseReason(http::close_code::internal_error, piece.error().text()));
            co_return true;
        }
        std::vector<std::string> messages;
        for_each_line(*piece, reader_.position(), [&messages](auto line, std::uint64_t behind) {
            std::string message = "{\"position\":" + std::to_string(behind) + ",\"line\":";
            message += line;
            messages.push_back(message + "}");
        });
        const bool ended = reader_.at_end();
        if (ended) {
            const Json last = {{"position", reader_.position()},
                               {"job", jobs::job_json(reader_.job().record)}};
            messages.push_back(dump_ascii(last));
        }
        for (const std::string& message : messages) {
            const ByteView part = as_bytes(message);
            if (!co_await socket_->write(Opcode::text, std::span(&part, 1))) co_return false;
        }
        if (ended) {
            socket_->begin_close(http::CloseReason(http::close_code::normal, "the job has ended"));
        }
        co_return true;
    }

    asio::any_io_executor executor_;
    JobReader reader_;
    std::unique_ptr<WebSocket> socket_;
    bool writing_ = false;
    Condition wake_;
};

}  // namespace

awaitable<Result<void>> send_job_stream(jobs::Jobs& jobs, JobPointer job, Request& request,
                                        ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(from, position_of(request));
    JobReader reader(jobs, job, from.value_or(0));
    CB_CO_TRY(co_await reader.next());  // a wrong position is told before the answer begins
    if (request.headers().get("Upgrade")) {
        // Lives until both coroutines are done: run() waits for the writer.
        JobSocket socket(co_await asio::this_coro::executor, std::move(reader));
        co_return co_await socket.run(request, writer);
    }
    // 204 tells a browser's EventSource, which comes back after each end, to stay away.
    if (from && reader.at_end()) co_return co_await writer.send_empty(204);
    co_return co_await send_events(std::move(reader), writer);
}

}  // namespace cellblock::gateway::api
