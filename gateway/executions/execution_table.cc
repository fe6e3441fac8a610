#include "gateway/executions/execution_table.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/executions/execution_files.h"
#include "kernel-proxy/kernel_messages.h"
#include "kernel-proxy/running_cell.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using kernel_proxy::Finished;
using kernel_proxy::Outcome;
using kernel_proxy::RunningCell;
using std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds trim_interval{30};
// A cell whose time ran out while no gateway was there gets this long to tell that it has ended.
constexpr std::chrono::seconds adopted_cell_grace{15};

Deadline deadline_of(const LoggedExecution& logged) {
    const auto now = std::chrono::system_clock::now();
    const WallTime until = std::max<WallTime>(logged.deadline, now + adopted_cell_grace);
    return steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(until - now);
}

Error in_use(const std::string& id) {
    return Error(ErrorCode::conflict, "there is an execution \"" + id + "\" already",
                 "read it at GET /executions/" + id + "/stream, or choose another execution_id");
}

Result<std::string> message_id_in(const std::string& header) {
    const JsonLimits bounds{limits::kernel_header_max_bytes};
    CB_TRY_ASSIGN(json, parse_json(header, bounds, "the header of a logged request"));
    if (!json.is_object()) return fail(ErrorCode::io, "the header of a logged request is none");
    return required_string(json, "msg_id");
}

// The same message as it was sent.
std::shared_ptr<const kernel_proxy::Request> request_again(const LoggedExecution& logged,
                                                           const std::string& message_id) {
    auto request =
        std::make_shared<kernel_proxy::Request>(kernel_proxy::execute_request("", logged.request));
    request->msg_id = message_id;
    request->frames.front() = to_bytes(logged.header);
    return request;
}

}  // namespace

ExecutionTable::ExecutionTable(asio::any_io_executor executor, artifacts::Store& store,
                               WorkerPool& workers, std::filesystem::path folder)
    : executor_(std::move(executor)),
      store_(store),
      workers_(workers),
      folder_(std::move(folder)),
      changed_(executor_) {}

// --- after an earlier gateway --------------------------------------------------------------------

asio::awaitable<Result<void>> ExecutionTable::open() {
    auto read = [folder = folder_] { return read_unfinished(folder); };
    CB_CO_TRY_ASSIGN(unfinished, co_await workers_.run(std::move(read)));
    for (LoggedExecution& logged : unfinished) {
        const std::string id = logged.request.id;
        auto left = take_left(std::move(logged));
        if (left) {
            left_.push_back(std::move(*left));
        } else {
            log::warning("execution_log_unusable",
                         {{"execution_id", id}, {"error", left.error().text()}});
        }
    }
    co_return Result<void>();
}

Result<ExecutionTable::Left> ExecutionTable::take_left(LoggedExecution logged) {
    CB_TRY_ASSIGN(log, ExecutionLog::reopen(folder_, logged.request.id));
    Left left;
    const std::string header = logged.header;
    const Deadline deadline = deadline_of(logged);
    const bool raised = logged.raised;
    const auto reply = kernel_proxy::reply_status_from(logged.reply);
    left.execution =
        std::make_shared<RecordedExecution>(executor_, workers_, std::move(logged), std::move(log));
    const auto& execution = left.execution->execution();
    execution->keep_by(left.execution);
    if (header.empty()) return left;
    CB_TRY_ASSIGN(message_id, message_id_in(header));
    execution->set_running();
    left.cell = std::make_shared<RunningCell>(execution, std::move(message_id));
    left.cell->set_sent(deadline);
    if (raised) left.cell->set_error_seen();
    if (reply) {
        kernel_proxy::ExecuteReply told;
        told.status = *reply;
        left.cell->set_reply(std::move(told));
    }
    return left;
}

void ExecutionTable::prepare(const std::string& context_id, kernel_proxy::KernelImage& image) {
    for (Left& left : left_) {
        const LoggedExecution& logged = left.execution->info();
        if (left.adopted || !left.cell || logged.context_id != context_id) continue;
        left.adopted = true;
        image.running = left.cell;
        image.received = logged.position;
        image.resumes = true;
        if (!logged.heard) image.send_again = request_again(logged, left.cell->msg_id());
        return;
    }
}

void ExecutionTable::resume(const SandboxManager& sandboxes) {
    const Error lost(ErrorCode::sandbox_gone,
                     "the gateway ended while the cell ran, and its sandbox could not be kept",
                     "make a new sandbox");
    std::size_t adopted = 0;
    for (Left& left : std::exchange(left_, {})) {
        const RecordedExecutionPointer& execution = left.execution;
        const auto sandbox = sandboxes.find(execution->info().sandbox_id);
        const bool runs = sandbox && (*sandbox)->state() == SandboxState::running;
        const auto context = runs ? (*sandbox)->find_context(execution->info().context_id)
                                  : Result<ContextPointer>(fail(lost));
        Result<void> goes_on;
        if (!context || (left.cell && !left.adopted)) {
            goes_on = fail(lost);
        } else if (!left.cell) {
            goes_on = (*context)->kernel->execute(execution->execution());
        }
        if (!goes_on) {
            execution->end(Finished(Outcome::sandbox_gone, goes_on.error()));
            continue;
        }
        ++adopted;
        enter(execution);
        execution->begin(store_, (*sandbox)->lease());
    }
    if (adopted > 0) log::info("executions_adopted", {{"executions", adopted}});
}

// --- of this gateway -----------------------------------------------------------------------------

asio::awaitable<Result<RecordedExecutionPointer>> ExecutionTable::start(NewExecution wanted) {
    LoggedExecution logged;
    logged.request = std::move(wanted.request);
    logged.sandbox_id = wanted.sandbox->id();
    logged.context_id = wanted.context->id();
    logged.tenant = std::move(wanted.tenant);
    logged.created_at = std::chrono::system_clock::now();
    const std::string id = logged.request.id;
    if (running_.contains(id) || !starting_.insert(id).second) co_return fail(in_use(id));
    auto create = [folder = folder_, id, header = header_record(logged)]() -> Result<ExecutionLog> {
        if (std::filesystem::exists(done_path(folder, id))) return fail(in_use(id));
        return ExecutionLog::create(folder, id, header);
    };
    auto created = co_await workers_.run(std::move(create));
    starting_.erase(id);
    if (!created && created.error().code == ErrorCode::conflict) co_return fail(created.error());
    std::optional<ExecutionLog> log;
    if (created) {
        log.emplace(std::move(*created));
    } else {
        log::warning("execution_not_recorded",
                     {{"execution_id", id}, {"error", created.error().text()}});
    }
    const bool is_kept = log.has_value();
    const auto execution =
        std::make_shared<RecordedExecution>(executor_, workers_, std::move(logged), std::move(log));
    if (is_kept) execution->execution()->keep_by(execution);
    const auto queued = wanted.context->kernel->execute(execution->execution());
    if (!queued) {
        std::error_code ignored;
        std::filesystem::remove(log_path(folder_, id), ignored);
        co_return fail(queued.error());
    }
    enter(execution);
    execution->begin(store_, std::move(wanted.sandbox));
    co_return execution;
}

asio::awaitable<Result<RecordedExecutionPointer>> ExecutionTable::go_on(CopiedExecution copied) {
    const auto cell = copied.cell.context->kernel->running_cell();
    if (!cell) co_return fail(ErrorCode::unavailable, "the cell has just ended");
    LoggedExecution logged;
    logged.request = copied.cell.execution->request();
    logged.request.id = copied.id;
    logged.sandbox_id = copied.cell.sandbox->id();
    logged.context_id = copied.cell.context->id();
    logged.tenant = std::move(copied.tenant);
    logged.created_at = std::chrono::system_clock::now();
    logged.deadline =
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<WallTime::duration>(cell->deadline() - steady_clock::now());
    // The kernel has it, so that no more of the header is needed.
    const Json header = {{"msg_id", cell->msg_id()}};
    logged.header = dump_ascii(header);
    logged.position = copied.cell.execution->taken_through();
    logged.lines = std::move(copied.lines);
    auto create = [folder = folder_, logged, state = copied.recorder->state(),
                   original = copied.cell.execution->request().id]() -> Result<ExecutionLog> {
        CB_TRY_ASSIGN(log, ExecutionLog::create(folder, logged.request.id, header_record(logged)));
        CB_TRY(log.append(sent_record(logged.header, logged.deadline, logged.position)));
        if (state.text.kept_bytes > 0) {
            CB_TRY(log.copy_text_of(original));
        }
        CB_TRY(log.append(lines_record(logged.position, logged.lines, state)));
        return log;
    };
    CB_CO_TRY_ASSIGN(log, co_await workers_.run(std::move(create)));
    const auto execution = std::make_shared<RecordedExecution>(
        executor_, workers_, std::move(logged), std::move(log), copied.cell.execution);
    copied.cell.execution->keep_by(execution);
    enter(execution);
    execution->begin(std::move(copied.recorder), std::move(copied.cell.sandbox));
    co_return execution;
}

void ExecutionTable::enter(const RecordedExecutionPointer& execution) {
    running_[execution->id()] = execution;
    spawn_logged(executor_, watch(execution), "execution_watch", nullptr);
}

asio::awaitable<void> ExecutionTable::watch(RecordedExecutionPointer execution) {
    co_await execution->wait_finished();
    running_.erase(execution->id());
    changed_.notify_all();
    if (steady_clock::now() < trim_at_) co_return;
    trim_at_ = steady_clock::now() + trim_interval;
    co_await trim();
}

asio::awaitable<void> ExecutionTable::wait_ended(Deadline deadline) {
    while (!running_.empty() && co_await changed_.wait_until(deadline)) {
    }
}

asio::awaitable<void> ExecutionTable::trim() {
    auto work = [folder = folder_] { return trim_finished(folder); };
    const auto trimmed = co_await workers_.run(std::move(work));
    if (!trimmed) log::warning("executions_not_trimmed", {{"error", trimmed.error().text()}});
}

RecordedExecutionPointer ExecutionTable::find(const std::string& id) const {
    const auto found = running_.find(id);
    return found == running_.end() ? nullptr : found->second;
}

asio::awaitable<Result<LoggedExecution>> ExecutionTable::ended(std::string id) const {
    if (!is_valid_id(id)) co_return fail(ErrorCode::not_found, "there is no such execution");
    auto read = [folder = folder_, id] { return read_execution_log(done_path(folder, id)); };
    auto logged = co_await workers_.run(std::move(read));
    if (!logged) {
        co_return fail(ErrorCode::not_found, "execution \"" + id + "\" was not found",
                       "ended executions are kept for an hour");
    }
    co_return std::move(*logged);
}

}  // namespace cellblock::gateway
