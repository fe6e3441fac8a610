#include "gateway/api/execute_detachable.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "gateway/api/detaching.h"
#include "gateway/executions/llm_document.h"
#include "gateway/executions/wire_lines.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
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

}  // namespace

asio::awaitable<Result<void>> run_detachable(Services& services, NewExecution wanted,
                                             const ExecuteBody& body, jobs::Notices notices,
                                             ResponseWriter& writer) {
    Recorder::Owner owner;
    owner.execution_id = wanted.request.id;
    owner.sandbox_id = wanted.sandbox->id();
    owner.tenant = wanted.tenant;
    const auto kernel = wanted.context->kernel;
    CB_CO_TRY_ASSIGN(execution, kernel->execute(std::move(wanted.request)));
    const AbandonAtExit guard(execution);
    writer.headers().set("X-Execution-Id", owner.execution_id);
    writer.headers().set("E2b-Sandbox-Id", owner.sandbox_id);
    const auto recorder = std::make_shared<Recorder>(services.store, services.workers,
                                                     wanted.sandbox, std::move(owner));
    jobs::DetachRequest job;
    job.sandbox = std::move(wanted.sandbox);
    job.context = std::move(wanted.context);
    job.execution = execution;
    job.recorder = recorder;
    job.notices = std::move(notices);
    job.tenant = std::move(wanted.tenant);
    const auto executor = co_await asio::this_coro::executor;
    Detaching detaching(executor, services.jobs, body.detach_after, std::move(job));
    Cell followed{*kernel, *execution, *recorder, detaching};
    if (body.view == View::llm) co_return co_await send_document(followed, body, writer);
    co_return co_await stream_lines(followed, writer);
}

}  // namespace cellblock::gateway::api
