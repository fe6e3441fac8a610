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
// With "detach_after" the answer ends that long after the cell has begun: a `detached` line names
// the job as which it goes on in a copy of the sandbox, and in the sandbox itself it is
// interrupted. A cell that cannot be let go of says so in a line, and goes on as it was.
//
// A caller that goes away interrupts its cell, and a queued one is taken back, unless the body has
// "on_disconnect": "go_on". Either way GET /executions/{id}/stream has all lines (executions.cc).
// "execution_id" is a name of the caller's own, so that it can ask even when no head of an answer
// reached it; 409 when there is such an execution already, so that asking again runs nothing twice.
#include "base/ids.h"
#include "base/spawn.h"
#include "gateway/api/bind.h"
#include "gateway/api/context_json.h"
#include "gateway/api/detaching.h"
#include "gateway/api/execution_stream.h"
#include "gateway/api/unprocessable.h"
#include "gateway/executions/llm_document.h"
#include "gateway/jobs/jobs.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;

namespace {

// Whatever ends the handler (the answer, an error, the client's disappearance) ends the cell too,
// unless its caller wants it to go on.
class CallerLeaves {
  public:
    CallerLeaves(RecordedExecutionPointer execution, OnDisconnect then)
        : execution_(std::move(execution)), then_(then) {}
    CallerLeaves(const CallerLeaves&) = delete;
    CallerLeaves& operator=(const CallerLeaves&) = delete;
    ~CallerLeaves() {
        if (then_ == OnDisconnect::go_on) return;
        execution_->execution()->stop(kernel_proxy::StopReason::cancelled);
    }

  private:
    RecordedExecutionPointer execution_;
    OnDisconnect then_;
};

asio::awaitable<Result<ContextPointer>> context_for(const ExecuteBody& body, Sandbox& sandbox) {
    if (body.context_id) co_return sandbox.find_context(*body.context_id);
    co_return co_await sandbox.default_context(body.language.value_or("python"));
}

asio::awaitable<Result<void>> send_document(RecordedExecutionPointer execution,
                                            const ExecuteBody& body, ResponseWriter& writer) {
    LlmDocument document;
    std::size_t read = 0;
    while (!execution->ended() || read < execution->line_count()) {
        if (!co_await execution->wait_beyond(read, Deadline::max())) {
            co_return fail(ErrorCode::cancelled, "the client is gone");
        }
        for (; read < execution->line_count(); ++read) {
            document.add(Json::parse(execution->line(read)));
        }
    }
    writer.headers().set("Cellblock-Execution", document.failed() ? "error" : "ok");
    const Recorder& recorder = *execution->recorder();
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
    auto notices = services.jobs.notifier().notices_from(*json);
    if (!notices) co_return co_await refuse_body(notices.error(), writer);
    CB_CO_TRY_ASSIGN(sandbox, co_await sandbox_of(request, services));
    CB_CO_TRY_ASSIGN(context, co_await context_for(body, *sandbox));

    NewExecution wanted;
    wanted.request.id = body.execution_id ? *body.execution_id : new_short_id();
    wanted.request.code = std::move(body.code);
    wanted.request.environment = std::move(body.environment);
    wanted.request.timeout = body.timeout;
    wanted.sandbox = sandbox;
    wanted.context = std::move(context);
    wanted.tenant = request.tenant();
    jobs::DetachRequest job;
    job.sandbox = sandbox;
    job.context = wanted.context;
    job.notices = std::move(*notices);
    CB_CO_TRY_ASSIGN(execution, co_await services.executions.start(std::move(wanted)));
    const CallerLeaves guard(execution, body.on_disconnect);
    writer.headers().set("X-Execution-Id", execution->id());
    writer.headers().set("E2b-Sandbox-Id", sandbox->id());
    if (body.detach_after) {
        job.execution = execution;
        const auto executor = co_await asio::this_coro::executor;
        spawn_logged(executor, detach_when_due(services.jobs, std::move(job), *body.detach_after),
                     "detach", execution);
    }
    if (body.view == View::llm) co_return co_await send_document(execution, body, writer);
    co_return co_await stream_lines(execution, 0, writer);
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
