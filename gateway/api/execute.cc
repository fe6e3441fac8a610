// POST /execute: a cell runs, and what it produces streams back while it runs.
//
// Body: context_json.h, ExecuteBody. Answer: 200 at once, chunked, one JSON object a line, ASCII
// only (gateway/executions/wire_lines.h), no Content-Type, as E2B's code interpreter. With "view":
// "llm" one Markdown document (text/markdown) at the end instead; with "images" JSON instead of
// that: {"content": [...]}, the document and the pictures as parts of a chat message. Errors before
// the start: 422 a body of another form; as plain text 400 both context_id and language, 404
// unknown context or sandbox, 429 queue full, 502 sandbox gone. Afterwards every end is typed in
// the stream.
//
// A caller that goes away interrupts its cell; a queued one is taken back.
#include <chrono>

#include "base/ids.h"
#include "gateway/api/bind.h"
#include "gateway/api/context_json.h"
#include "gateway/api/unprocessable.h"
#include "gateway/executions/llm_document.h"
#include "gateway/executions/recorder.h"
#include "gateway/executions/wire_lines.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;
using kernel_proxy::Execution;
using std::chrono::steady_clock;

namespace {

// Whatever ends the handler (the answer, an error, the client's disappearance) ends the cell too.
class AbandonAtExit {
  public:
    explicit AbandonAtExit(std::shared_ptr<Execution> execution)
        : execution_(std::move(execution)) {}
    AbandonAtExit(const AbandonAtExit&) = delete;
    AbandonAtExit& operator=(const AbandonAtExit&) = delete;
    ~AbandonAtExit() { execution_->abandon(); }

  private:
    std::shared_ptr<Execution> execution_;
};

asio::awaitable<Result<ContextPointer>> context_for(const ExecuteBody& body, Sandbox& sandbox) {
    if (body.context_id) co_return sandbox.find_context(*body.context_id);
    co_return co_await sandbox.default_context(body.language.value_or("python"));
}

// One turn: the next event's lines, or a keepalive when none came in time.
asio::awaitable<std::vector<Json>> next_lines(Execution& execution, Recorder& recorder) {
    auto event =
        co_await execution.next(steady_clock::now() + limits::execution_keepalive_interval);
    if (!event) co_return std::vector<Json>{wire::keepalive()};
    co_return co_await recorder.take(std::move(*event));
}

bool has_end(const std::vector<Json>& lines) {
    return !lines.empty() && lines.back().at("type") == "end_of_execution";
}

// As one chunk.
asio::awaitable<Result<void>> write_lines(const std::vector<Json>& lines, ResponseWriter& writer) {
    std::string text;
    for (const Json& line : lines) {
        text += dump_ascii(line);
        text += '\n';
    }
    if (text.empty()) co_return Result<void>();
    co_return co_await writer.write(text);
}

asio::awaitable<Result<void>> stream_lines(Execution& execution, Recorder& recorder,
                                           ResponseWriter& writer) {
    writer.set_probe(dump_ascii(wire::keepalive()) + "\n");
    CB_CO_TRY(co_await writer.start(200, ""));
    bool ended = false;
    while (!ended) {
        const std::vector<Json> lines = co_await next_lines(execution, recorder);
        CB_CO_TRY(co_await write_lines(lines, writer));
        const std::vector<Json> artifact_lines = co_await recorder.keep_artifacts();
        CB_CO_TRY(co_await write_lines(artifact_lines, writer));
        ended = has_end(lines);
    }
    co_return co_await writer.finish();
}

asio::awaitable<Result<void>> send_document(Execution& execution, Recorder& recorder,
                                            const ExecuteBody& body, ResponseWriter& writer) {
    LlmDocument document;
    bool ended = false;
    while (!ended) {
        const std::vector<Json> lines = co_await next_lines(execution, recorder);
        for (const Json& line : lines) document.add(line);
        const std::vector<Json> artifact_lines = co_await recorder.keep_artifacts();
        for (const Json& line : artifact_lines) document.add(line);
        ended = has_end(lines);
    }
    writer.headers().set("Cellblock-Execution", document.failed() ? "error" : "ok");
    if (body.images) {
        const Json parts = document.render_parts(recorder, body.view_budget_bytes, *body.images);
        co_return co_await writer.send_json(200, parts);
    }
    const std::string text = document.render(recorder, body.view_budget_bytes);
    co_return co_await writer.send(200, "text/markdown; charset=utf-8", text);
}

asio::awaitable<Result<void>> execute(Services& services, Request& request,
                                      ResponseWriter& writer) {
    const auto json = co_await request.read_json(limits::execute_body_max_bytes);
    auto parsed = json ? execute_body_from(*json) : fail(json.error());
    if (!parsed) co_return co_await refuse_body(parsed.error(), writer);
    ExecuteBody& body = *parsed;
    if (body.context_id && body.language) {
        co_return fail(ErrorCode::invalid_argument,
                       "Only one of context_id or language can be provided");
    }
    if (!json->contains("timeout")) body.timeout = services.execution_timeout;
    CB_CO_TRY_ASSIGN(sandbox, co_await sandbox_of(request, services));
    CB_CO_TRY_ASSIGN(context, co_await context_for(body, *sandbox));

    kernel_proxy::ExecuteRequest cell;
    cell.id = new_short_id();
    cell.code = std::move(body.code);
    cell.environment = std::move(body.environment);
    cell.timeout = body.timeout;
    Recorder::Owner owner;
    owner.execution_id = cell.id;
    owner.sandbox_id = sandbox->id();
    owner.tenant = request.tenant();
    CB_CO_TRY_ASSIGN(execution, context->kernel->execute(std::move(cell)));
    const AbandonAtExit guard(execution);
    writer.headers().set("X-Execution-Id", owner.execution_id);
    writer.headers().set("E2b-Sandbox-Id", owner.sandbox_id);
    Recorder recorder(services.store, services.workers, sandbox, std::move(owner));
    if (body.view == View::llm) {
        co_return co_await send_document(*execution, recorder, body, writer);
    }
    co_return co_await stream_lines(*execution, recorder, writer);
}

}  // namespace

void add_execute_routes(http::Router& router, Services& services) {
    http::RouteOptions options;
    options.style = http::ErrorStyle::code_interpreter;
    options.on_disconnect = http::OnDisconnect::cancel;
    options.body_max_bytes = limits::execute_body_max_bytes;
    router.add("POST", "/execute", options, bind(services, execute));
}

}  // namespace cellblock::gateway::api
