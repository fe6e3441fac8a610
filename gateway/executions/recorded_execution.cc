#include "gateway/executions/recorded_execution.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/executions/wire_lines.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using kernel_proxy::Execution;
using kernel_proxy::Finished;

namespace {

// Larger records go to a worker: copying that much to the page cache takes a tenth of a
// millisecond.
constexpr std::size_t write_here_max_bytes = 64 * limits::KiB;

bool is_being_replaced(kernel_proxy::KernelState state) {
    return state == kernel_proxy::KernelState::restarting ||
           state == kernel_proxy::KernelState::dead;
}

bool is_end(const Json& line) {
    return line.at("type") == "end_of_execution";
}

// What the lines showed of the cell's text.
std::string text_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        const auto json = Json::parse(line, nullptr, false);
        if (!json.is_object()) continue;
        const std::string type = json.value("type", "");
        if (type == "stdout" || type == "stderr") text += json.value("text", "");
    }
    return text;
}

}  // namespace

RecordedExecution::RecordedExecution(asio::any_io_executor executor, WorkerPool& workers,
                                     LoggedExecution logged, std::optional<ExecutionLog> log)
    : RecordedExecution(executor, workers, std::move(logged), std::move(log), nullptr) {}

RecordedExecution::RecordedExecution(asio::any_io_executor executor, WorkerPool& workers,
                                     LoggedExecution logged, std::optional<ExecutionLog> log,
                                     std::shared_ptr<Execution> execution)
    : executor_(executor),
      workers_(workers),
      info_(std::move(logged)),
      log_(std::move(log)),
      execution_(execution ? std::move(execution)
                           : std::make_shared<Execution>(executor, info_.request)),
      lines_(std::exchange(info_.lines, {})),
      changed_(executor) {
    for (const std::string& line : lines_) bytes_ += line.size();
}

void RecordedExecution::begin(artifacts::Store& store, std::shared_ptr<Sandbox> sandbox) {
    Recorder::Owner owner;
    owner.execution_id = id();
    owner.sandbox_id = info_.sandbox_id;
    owner.tenant = info_.tenant;
    recorder_ = std::make_shared<Recorder>(store, workers_, sandbox, std::move(owner));
    sandbox_ = std::move(sandbox);
    spawn_logged(executor_, run(), "execution_record", shared_from_this());
}

void RecordedExecution::begin(std::shared_ptr<Recorder> recorder,
                              std::shared_ptr<Sandbox> sandbox) {
    recorder_ = std::move(recorder);
    recorder_is_new_ = false;
    sandbox_ = std::move(sandbox);
    spawn_logged(executor_, run(), "execution_record", shared_from_this());
}

asio::awaitable<void> RecordedExecution::run() {
    const auto self = shared_from_this();
    if (!lines_.empty() && recorder_is_new_) co_await restore_recorder();
    while (!ended_) {
        busy_ = false;
        changed_.notify_all();
        const bool waits = co_await execution_->wait_for_event(Deadline::max());
        while (held_) co_await changed_.wait();
        busy_ = true;
        if (let_go_) {
            co_await end_own_copy();
        } else if (waits) {
            auto event = co_await execution_->next(Deadline::max());
            if (event) co_await take(std::move(*event));
        }
    }
    finish();
}

asio::awaitable<void> RecordedExecution::take(kernel_proxy::OutputEvent event) {
    std::vector<std::string> fresh;
    const auto lines = co_await recorder_->take(std::move(event));
    add(lines, fresh);
    const auto artifact_lines = co_await recorder_->keep_artifacts();
    add(artifact_lines, fresh);
    info_.position = std::max(info_.position, execution_->taken_through());
    co_await write(fresh);
    if (!ended_) execution_->settle(info_.position);
    co_await recorder_->release_guest_copies();
    co_await wait_for_readers();
}

asio::awaitable<void> RecordedExecution::restore_recorder() {
    std::string kept;
    if (log_ && info_.recorder.text.kept_bytes > 0) {
        auto read = [this, bytes = info_.recorder.text.kept_bytes] {
            return log_->restore_text(bytes);
        };
        auto text = co_await workers_.run(std::move(read));
        if (text) kept = std::move(*text);
    }
    co_await recorder_->restore(info_.recorder, text_of(lines_), std::move(kept));
}

void RecordedExecution::add(const std::vector<Json>& lines, std::vector<std::string>& fresh) {
    for (const Json& line : lines) {
        fresh.push_back(dump_ascii(line));
        lines_.push_back(fresh.back());
        bytes_ += fresh.back().size();
        if (is_end(line)) ended_ = true;
    }
    if (!lines.empty()) changed_.notify_all();
}

// Readers have the lines already: should the gateway die here, they are made again as they were.
asio::awaitable<void> RecordedExecution::write(const std::vector<std::string>& fresh) {
    if (!log_ || log_broken_) co_return;
    std::string text = let_go_ ? std::string() : recorder_->take_kept_text();
    std::string record = lines_record(info_.position, fresh, recorder_state());
    if (text.empty() && record.size() <= write_here_max_bytes) {
        write_now(record);
        co_return;
    }
    auto append = [this, text = std::move(text), record = std::move(record)]() -> Result<void> {
        if (!text.empty()) {
            CB_TRY(log_->append_text(text));
        }
        return log_->append(record);
    };
    const auto written = co_await workers_.run(std::move(append));
    if (!written) give_up_log(written.error());
}

void RecordedExecution::write_now(const std::string& record) {
    if (!log_ || log_broken_) return;
    const auto written = log_->append(record);
    if (!written) give_up_log(written.error());
}

// A full disk: the cell goes on, but nobody can come back to it after an end of this gateway.
void RecordedExecution::give_up_log(const Error& error) {
    log::warning("execution_not_recorded", {{"execution_id", id()}, {"error", error.text()}});
    log_broken_ = true;
}

asio::awaitable<void> RecordedExecution::wait_for_readers() {
    const auto all_far_behind = [this] {
        return !readers_.empty() && std::all_of(readers_.begin(), readers_.end(), [this](auto* r) {
            return bytes_ - r->bytes_ > limits::execution_queue_max_bytes;
        });
    };
    while (!ended_ && all_far_behind()) co_await changed_.wait();
}

void RecordedExecution::finish() {
    ended_ = true;
    execution_->settle_all();
    if (recorder_ && !let_go_) recorder_->let_go_of_sandbox();
    sandbox_.reset();
    if (log_ && !log_broken_) {
        const auto finished = log_->finish();
        if (!finished) {
            log::warning("execution_log_not_finished",
                         {{"execution_id", id()}, {"error", finished.error().text()}});
        }
    }
    log_.reset();
    finished_ = true;
    changed_.notify_all();
}

// --- letting go of the cell ----------------------------------------------------------------------

asio::awaitable<bool> RecordedExecution::hold() {
    const auto self = shared_from_this();
    held_ = true;
    while (busy_ && !ended_) co_await changed_.wait();
    if (ended_) held_ = false;
    co_return !ended_;
}

void RecordedExecution::release(const std::vector<Json>& lines) {
    std::vector<std::string> fresh;
    add(lines, fresh);
    if (!fresh.empty()) write_now(lines_record(info_.position, fresh, recorder_state()));
    held_ = false;
    changed_.notify_all();
}

void RecordedExecution::let_go(const Json& line) {
    info_.recorder = recorder_state();
    let_go_ = true;
    const std::vector<Json> lines = {line};
    release(lines);
    execution_->stop(kernel_proxy::StopReason::interrupted);
}

asio::awaitable<void> RecordedExecution::end_own_copy() {
    bool over = false;
    while (!over) {
        const auto event = co_await execution_->next(Deadline::max());
        over = event && std::holds_alternative<Finished>(*event);
        execution_->settle(execution_->taken_through());
    }
    std::vector<Json> lines;
    const auto context = sandbox_->find_context(info_.context_id);
    if (context && is_being_replaced((*context)->kernel->state())) {
        const Error lost(ErrorCode::cancelled,
                         "the cell ignored the interrupt here, so its kernel was restarted: "
                         "variables are gone",
                         "the job has them: POST /sandboxes/{id}/adopt");
        lines.push_back(wire::end_error(Finished(kernel_proxy::Outcome::restarted, lost)));
    }
    lines.push_back(wire::end());
    std::vector<std::string> fresh;
    add(lines, fresh);
    co_await write(fresh);
}

RecorderState RecordedExecution::recorder_state() const {
    return let_go_ || !recorder_ ? info_.recorder : recorder_->state();
}

asio::awaitable<void> RecordedExecution::wait_finished() {
    const auto self = shared_from_this();
    while (!finished_) co_await changed_.wait();
}

void RecordedExecution::end(const Finished& finished) {
    if (ended_) return;
    std::vector<std::string> fresh;
    std::vector<Json> lines;
    if (Json error = wire::end_error(finished); !error.is_null()) lines.push_back(std::move(error));
    lines.push_back(wire::end());
    add(lines, fresh);
    write_now(lines_record(info_.position, fresh, recorder_state()));
    finish();
}

asio::awaitable<bool> RecordedExecution::wait_beyond(std::size_t count, Deadline deadline) {
    const auto self = shared_from_this();
    while (lines_.size() <= count && !ended_) {
        if (!co_await changed_.wait_until(deadline)) co_return false;
        // A reader whose client is gone must not wait on.
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none) co_return false;
    }
    co_return true;
}

asio::awaitable<bool> RecordedExecution::wait_ended(Deadline deadline) {
    const auto self = shared_from_this();
    while (!ended_ && co_await changed_.wait_until(deadline)) {
    }
    co_return ended_;
}

void RecordedExecution::sending(std::string_view header, std::uint64_t position) {
    info_.deadline = std::chrono::system_clock::now() + info_.request.timeout;
    info_.position = position;
    write_now(sent_record(header, info_.deadline, position));
}

void RecordedExecution::answered(std::string_view status) {
    write_now(reply_record(status));
}

void RecordedExecution::acknowledging(std::uint64_t position) {
    if (position > info_.position) write_now(position_record(position));
}

// --- readers -------------------------------------------------------------------------------------

RecordedExecution::Reader::Reader(std::shared_ptr<RecordedExecution> execution, std::size_t from)
    : execution_(std::move(execution)), next_(std::min(from, execution_->line_count())), bytes_(0) {
    for (std::size_t i = 0; i < next_; ++i) bytes_ += execution_->line(i).size();
    execution_->readers_.push_back(this);
}

RecordedExecution::Reader::~Reader() {
    execution_->readers_.remove(this);
    execution_->changed_.notify_all();
}

void RecordedExecution::Reader::advance() {
    bytes_ += execution_->line(next_++).size();
    execution_->changed_.notify_all();
}

}  // namespace cellblock::gateway
