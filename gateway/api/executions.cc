// GET /executions/{id} and /executions/{id}/stream?from=N: an execution by the id that POST
// /execute told in X-Execution-Id, while it runs and for an hour after its end.
//
// The stream is that of POST /execute from its line N on (the first is 0; keepalives do not count).
// N is the number of lines that the caller has: each line comes once, in order, whoever served the
// lines before, this gateway or one that has died.
#include <charconv>

#include "gateway/api/bind.h"
#include "gateway/api/execution_stream.h"
#include "gateway/executions/wire_lines.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;
using std::chrono::steady_clock;

namespace {

// Lines that are there already go out together, in chunks of this size.
constexpr std::size_t chunk_bytes = limits::http_piece_bytes;

Result<std::size_t> first_line_from(const Request& request) {
    const auto value = request.query().get("from");
    if (!value) return std::size_t{0};
    std::size_t from = 0;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), from);
    if (error == std::errc() && end == value->data() + value->size()) return from;
    return fail(ErrorCode::invalid_argument, "from must be the number of a line");
}

asio::awaitable<Result<void>> send_stored(const std::vector<std::string>& lines, std::size_t from,
                                          ResponseWriter& writer) {
    CB_CO_TRY(co_await writer.start(200, ""));
    std::string chunk;
    for (std::size_t i = from; i < lines.size(); ++i) {
        chunk += lines[i] + "\n";
        if (chunk.size() < chunk_bytes) continue;
        CB_CO_TRY(co_await writer.write(chunk));
        chunk.clear();
    }
    CB_CO_TRY(co_await writer.write(chunk));
    co_return co_await writer.finish();
}

Error unknown(const std::string& id) {
    return Error(ErrorCode::not_found, "execution \"" + id + "\" was not found");
}

Json to_json(const LoggedExecution& info, std::size_t lines, std::string_view state) {
    return Json{{"id", info.request.id},
                {"sandbox_id", info.sandbox_id},
                {"context_id", info.context_id},
                {"created_at", iso8601(info.created_at)},
                {"state", state},
                {"lines", lines}};
}

asio::awaitable<Result<void>> get_stream(Services& services, Request& request,
                                         ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(from, first_line_from(request));
    const std::string id = request.param("id");
    if (const auto running = services.executions.find(id)) {
        if (running->info().tenant != request.tenant()) co_return fail(unknown(id));
        co_return co_await stream_lines(running, from, writer);
    }
    CB_CO_TRY_ASSIGN(ended, co_await services.executions.ended(id));
    if (ended.tenant != request.tenant()) co_return fail(unknown(id));
    co_return co_await send_stored(ended.lines, from, writer);
}

asio::awaitable<Result<void>> get(Services& services, Request& request, ResponseWriter& writer) {
    const std::string id = request.param("id");
    if (const auto running = services.executions.find(id)) {
        if (running->info().tenant != request.tenant()) co_return fail(unknown(id));
        const bool queued = running->execution()->state() == kernel_proxy::ExecutionState::queued;
        const Json answer =
            to_json(running->info(), running->line_count(), queued ? "queued" : "running");
        co_return co_await writer.send_json(200, answer);
    }
    CB_CO_TRY_ASSIGN(ended, co_await services.executions.ended(id));
    if (ended.tenant != request.tenant()) co_return fail(unknown(id));
    const Json answer = to_json(ended, ended.lines.size(), "ended");
    co_return co_await writer.send_json(200, answer);
}

}  // namespace

asio::awaitable<Result<void>> stream_lines(RecordedExecutionPointer execution, std::size_t from,
                                           ResponseWriter& writer) {
    const std::string keepalive = dump_ascii(wire::keepalive()) + "\n";
    writer.set_probe(keepalive);
    CB_CO_TRY(co_await writer.start(200, ""));
    RecordedExecution::Reader reader(execution, from);
    while (!execution->ended() || reader.next() < execution->line_count()) {
        const auto deadline = steady_clock::now() + limits::execution_keepalive_interval;
        if (!co_await execution->wait_beyond(std::max(reader.next(), from), deadline)) {
            CB_CO_TRY(co_await writer.write(keepalive));
            continue;
        }
        std::string chunk;
        while (reader.next() < execution->line_count() && chunk.size() < chunk_bytes) {
            if (reader.next() >= from) chunk += execution->line(reader.next()) + "\n";
            reader.advance();
        }
        CB_CO_TRY(co_await writer.write(chunk));
    }
    co_return co_await writer.finish();
}

void add_execution_routes(http::Router& router, Services& services) {
    http::RouteOptions options;
    options.style = http::ErrorStyle::code_interpreter;
    router.add("GET", "/executions/{id}", options, bind(services, get));
    options.on_disconnect = http::OnDisconnect::cancel;
    router.add("GET", "/executions/{id}/stream", options, bind(services, get_stream));
}

}  // namespace cellblock::gateway::api
