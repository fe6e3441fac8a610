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
// A caller that goes away interrupts its cell; a queued one is taken back.
#include <algorithm>
#include <chrono>
#include <functional>

#include "base/ids.h"
#include "gateway/api/bind.h"
#include "gateway/api/context_json.h"
#include "gateway/api/detaching.h"
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

// What follows a cell to its end, or until it goes on as a job.
struct Cell {
    kernel_proxy::Kernel& kernel;
    Execution& execution;
    Recorder& recorder;
    Detaching& detaching;
};

// Takes lines for the caller; an error when there is no caller any more.
using Sink = std::function<asio::awaitable<Result<void>>(const std::vector<Json>& lines)>;

Deadline next_keepalive() {
    return steady_clock::now() + limits::execution_keepalive_interval;
}

// One turn: the next event's lines, or a keepalive when none came in time.
asio::awaitable<std::vector<Json>> next_lines(Cell& cell) {
    const Deadline keepalive = next_keepalive();
    auto event = co_await cell.execution.next(std::min(keepalive, cell.detaching.due()));
    if (event) co_return co_await cell.recorder.take(std::move(*event));
    std::vector<Json> lines;
    if (steady_clock::now() >= keepalive) lines.push_back(wire::keepalive());
    co_return lines;
}

bool has_end(const std::vector<Json>& lines) {
    return !lines.empty() && lines.back().at("type") == "end_of_execution";
}

// The caller's own copy of the cell is of no use any more: what it still says, the job says too.
asio::awaitable<Result<void>> end_own_copy(Cell& cell, const Sink& sink) {
    cell.execution.stop(kernel_proxy::StopReason::interrupted);
    while (cell.execution.state() != kernel_proxy::ExecutionState::finished) {
        if (co_await cell.execution.next(next_keepalive())) continue;
        const std::vector<Json> lines = {wire::keepalive()};
        CB_CO_TRY(co_await sink(lines));
    }
    std::vector<Json> lines;
    const kernel_proxy::KernelState state = cell.kernel.state();
    if (state == kernel_proxy::KernelState::restarting ||
        state == kernel_proxy::KernelState::dead) {
        const Error lost(ErrorCode::cancelled,
                         "the cell ignored the interrupt here, so its kernel was restarted: "
                         "variables are gone",
                         "the job has them: POST /sandboxes/{id}/adopt");
        lines.push_back(
            wire::end_error(kernel_proxy::Finished(kernel_proxy::Outcome::restarted, lost)));
    }
    lines.push_back(wire::end());
    co_return co_await sink(lines);
}

enum class LetGo { no, yes };

// The cell has run for as long as its caller wants to wait.
asio::awaitable<Result<LetGo>> let_go(Cell& cell, const Sink& sink) {
    cell.detaching.begin();
    while (!co_await cell.detaching.wait_until(next_keepalive())) {
        const std::vector<Json> lines = {wire::keepalive()};
        CB_CO_TRY(co_await sink(lines));
    }
    const auto job = cell.detaching.take();
    if (job && !*job) co_return LetGo::no;  // it has ended meanwhile
    std::vector<Json> lines;
    if (!job) {
        lines.push_back(wire::not_detached(job.error()));
        CB_CO_TRY(co_await sink(lines));
        co_return LetGo::no;
    }
    const jobs::JobRecord& record = (*job)->record;
    lines.push_back(wire::detached_to(record.id, record.sandbox_id, record.detached_from));
    CB_CO_TRY(co_await sink(lines));
    CB_CO_TRY(co_await end_own_copy(cell, sink));
    co_return LetGo::yes;
}

asio::awaitable<Result<void>> follow(Cell& cell, const Sink& sink) {
    bool ended = false;
    while (!ended) {
        const bool running = cell.execution.state() == kernel_proxy::ExecutionState::running;
        if (running && steady_clock::now() >= cell.detaching.due()) {
            CB_CO_TRY_ASSIGN(gone, co_await let_go(cell, sink));
            if (gone == LetGo::yes) co_return Result<void>();
            continue;
        }
        const std::vector<Json> lines = co_await next_lines(cell);
        cell.detaching.note(lines);
        CB_CO_TRY(co_await sink(lines));
        const std::vector<Json> artifact_lines = co_await cell.recorder.keep_artifacts();
        cell.detaching.note(artifact_lines);
        CB_CO_TRY(co_await sink(artifact_lines));
        ended = has_end(lines);
    }
    co_return Result<void>();
}

// As one chunk.
asio::awaitable<Result<void>> write_lines(const std::vector<Json>& lines, ResponseWriter& writer) {
    if (writer.client_gone()) co_return fail(ErrorCode::cancelled, "the caller went away");
    std::string text;
    for (const Json& line : lines) {
        text += dump_ascii(line);
        text += '\n';
    }
    if (text.empty()) co_return Result<void>();
    co_return co_await writer.write(text);
}

asio::awaitable<Result<void>> stream_lines(Cell& cell, ResponseWriter& writer) {
    writer.set_probe(dump_ascii(wire::keepalive()) + "\n");
    CB_CO_TRY(co_await writer.start(200, ""));
    const Sink sink = [&writer](const std::vector<Json>& lines) {
        return write_lines(lines, writer);
    };
    CB_CO_TRY(co_await follow(cell, sink));
    co_return co_await writer.finish();
}

asio::awaitable<Result<void>> add_lines(const std::vector<Json>& lines, LlmDocument& document,
                                        const ResponseWriter& writer) {
    if (writer.client_gone()) co_return fail(ErrorCode::cancelled, "the caller went away");
    for (const Json& line : lines) document.add(line);
    co_return Result<void>();
}

asio::awaitable<Result<void>> send_document(Cell& cell, const ExecuteBody& body,
                                            ResponseWriter& writer) {
    LlmDocument document;
    const Sink sink = [&document, &writer](const std::vector<Json>& lines) {
        return add_lines(lines, document, writer);
    };
    CB_CO_TRY(co_await follow(cell, sink));
    writer.headers().set("Cellblock-Execution", document.failed() ? "error" : "ok");
    if (body.images) {
        const Json parts =
            document.render_parts(cell.recorder, body.view_budget_bytes, *body.images);
        co_return co_await writer.send_json(200, parts);
    }
    const std::string text = document.render(cell.recorder, body.view_budget_bytes);
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
    const auto recorder =
        std::make_shared<Recorder>(services.store, services.workers, sandbox, std::move(owner));
    jobs::DetachRequest job;
    job.sandbox = sandbox;
    job.context = context;
    job.execution = execution;
    job.recorder = recorder;
    job.notices = std::move(*notices);
    job.tenant = request.tenant();
    const auto executor = co_await asio::this_coro::executor;
    Detaching detaching(executor, services.jobs, body.detach_after, std::move(job));
    Cell followed{*context->kernel, *execution, *recorder, detaching};
    if (body.view == View::llm) co_return co_await send_document(followed, body, writer);
    co_return co_await stream_lines(followed, writer);
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
