#include "kernel-proxy/kernel.h"

#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "kernel-proxy/kernel_messages.h"
#include "kernel-proxy/running_cell.h"
#include "vm/link/call.h"
#include "vm/link/kernel_message.h"

namespace cellblock::kernel_proxy {

namespace asio = boost::asio;
using std::chrono::steady_clock;

std::string_view to_string(KernelState state) {
    switch (state) {
        case KernelState::starting:
            return "starting";
        case KernelState::idle:
            return "idle";
        case KernelState::busy:
            return "busy";
        case KernelState::restarting:
            return "restarting";
        case KernelState::dead:
            return "dead";
    }
    return "unknown";
}

Kernel::Kernel(asio::any_io_executor executor, vm::link::Link& link, KernelSpec spec,
               std::function<void(Error)> on_unresponsive)
    : executor_(executor),
      link_(&link),
      spec_(std::move(spec)),
      on_unresponsive_(std::move(on_unresponsive)),
      session_(new_uuid()),
      changed_(executor) {}

// --- life of the process -----------------------------------------------------------------------

namespace {

Json start_params(const KernelSpec& spec) {
    return Json{{"kernel_id", spec.guest_id},
                {"name", spec.name},
                {"cwd", spec.working_directory},
                {"env", spec.environment}};
}

}  // namespace

asio::awaitable<Result<void>> Kernel::start() {
    const auto self = shared_from_this();
    const Json params = start_params(spec_);
    auto started =
        co_await vm::link::call(*link_, "kernel.start", params, limits::kernel_start_timeout);
    if (state_ == KernelState::dead) {
        co_return fail(ErrorCode::sandbox_gone, "the sandbox ended while its kernel was starting");
    }
    if (!started) {
        state_ = KernelState::dead;
        co_return fail(started.error().in("starting a kernel"));
    }
    CB_CO_TRY_ASSIGN(pid, required_integer(*started, "pid"));
    adopt(pid);
    co_return Result<void>{};
}

void Kernel::adopt(std::int64_t running_pid) {
    pid_ = running_pid;
    open_stream();
    state_ = KernelState::idle;
    spawn(read_messages(), "kernel_reader");
    spawn(run_queue(), "kernel_queue");
}

void Kernel::open_stream() {
    stream_ = link_->open(vm::link::StreamKind::kernel, Json{{"kernel_id", spec_.guest_id}}.dump());
}

void Kernel::spawn(asio::awaitable<void> task, std::string name) {
    spawn_logged(executor_, std::move(task), std::move(name), shared_from_this());
}

asio::awaitable<Result<void>> Kernel::replace_process() {
    if (state_ == KernelState::restarting) {
        while (state_ == KernelState::restarting) co_await changed_.wait();
    } else if (state_ != KernelState::dead || link_ != nullptr) {
        state_ = KernelState::restarting;
        const Json params = start_params(spec_);
        auto started =
            co_await vm::link::call(*link_, "kernel.restart", params, limits::kernel_start_timeout);
        if (state_ == KernelState::restarting) {  // else: closed meanwhile
            const auto pid = started ? required_integer(*started, "pid")
                                     : Result<std::int64_t>(fail(started.error()));
            state_ = pid ? KernelState::idle : KernelState::dead;
            pid_ = pid.value_or(0);
        }
        changed_.notify_all();
        if (!started) co_return fail(started.error().in("restarting the kernel"));
    }
    if (state_ == KernelState::dead) {
        co_return fail(ErrorCode::kernel_died, "the kernel could not be restarted",
                       "delete this context and make a new one");
    }
    co_return Result<void>{};
}

asio::awaitable<Result<void>> Kernel::restart() {
    const auto self = shared_from_this();
    if (link_ == nullptr) co_return fail(ErrorCode::sandbox_gone, "the sandbox is gone");
    end_running(Outcome::restarted,
                Error(ErrorCode::cancelled, "the context was restarted while the cell ran"));
    co_return co_await replace_process();
}

asio::awaitable<Result<void>> Kernel::interrupt() {
    const auto self = shared_from_this();
    if (link_ == nullptr) co_return fail(ErrorCode::sandbox_gone, "the sandbox is gone");
    const Json params = {{"kernel_id", spec_.guest_id}, {"signal", 2}};
    auto sent =
        co_await vm::link::call(*link_, "kernel.signal", params, limits::kernel_signal_timeout);
    if (!sent) co_return fail(sent.error().in("interrupting the kernel"));
    co_return Result<void>{};
}

asio::awaitable<Result<void>> Kernel::stop() {
    const auto self = shared_from_this();
    if (link_ == nullptr) co_return Result<void>{};
    vm::link::Link& link = *link_;
    close(Outcome::cancelled, Error(ErrorCode::cancelled, "the context was deleted"));
    const Json params = {{"kernel_id", spec_.guest_id}};
    auto stopped =
        co_await vm::link::call(link, "kernel.stop", params, limits::kernel_stop_timeout);
    if (!stopped) co_return fail(stopped.error().in("stopping the kernel"));
    co_return Result<void>{};
}

void Kernel::on_died(const KernelDeath& death) {
    // A process that we replaced ourselves is no news.
    if (death.pid != pid_ || state_ == KernelState::restarting || link_ == nullptr) return;
    log::warning(
        "kernel_died",
        {{"kernel_id", spec_.id}, {"how", death.how}, {"out_of_memory", death.out_of_memory}});
    end_running(death.out_of_memory ? Outcome::out_of_memory : Outcome::kernel_died,
                describe(death));
    spawn(restart_after_death(), "kernel_restart");
}

asio::awaitable<void> Kernel::restart_after_death() {
    const auto self = shared_from_this();
    const auto replaced = co_await replace_process();
    if (!replaced && link_ != nullptr) {
        log::error("kernel_restart_failed",
                   {{"kernel_id", spec_.id}, {"error", replaced.error().text()}});
    }
}

void Kernel::close(Outcome outcome, Error error) {
    if (link_ == nullptr) return;
    link_ = nullptr;
    state_ = KernelState::dead;
    end_running(outcome, error);
    for (const auto& waiting : std::exchange(queue_, {})) waiting->finish(Finished{outcome, error});
    if (stream_) stream_->reset(error);
    changed_.notify_all();
}

// --- executions --------------------------------------------------------------------------------

Result<std::shared_ptr<Execution>> Kernel::execute(ExecuteRequest request) {
    if (link_ == nullptr) {
        return fail(ErrorCode::sandbox_gone, "the sandbox of this context is gone",
                    "make a new sandbox");
    }
    if (state_ == KernelState::dead) {
        return fail(ErrorCode::kernel_died, "this context's kernel is dead",
                    "restart the context or make a new one");
    }
    if (request.code.size() > limits::execution_code_max_bytes) {
        return fail(ErrorCode::too_large, "the code has more than " +
                                              std::to_string(limits::execution_code_max_bytes) +
                                              " bytes");
    }
    if (queue_.size() >= limits::execution_queue_max) {
        return fail(ErrorCode::too_many,
                    std::to_string(queue_.size()) + " executions already wait on this context",
                    "wait for some to finish, or use another context");
    }
    auto execution = std::make_shared<Execution>(executor_, std::move(request));
    execution->set_stop_listener([this] {
        drop_stopped_from_queue();
        changed_.notify_all();
    });
    queue_.push_back(execution);
    changed_.notify_all();
    return execution;
}

asio::awaitable<void> Kernel::run_queue() {
    const auto self = shared_from_this();
    while (link_ != nullptr) {
        drop_stopped_from_queue();
        if (queue_.empty()) {
            co_await changed_.wait();
            continue;
        }
        if (state_ == KernelState::restarting) {
            co_await changed_.wait();
            continue;
        }
        auto next = std::move(queue_.front());
        queue_.pop_front();
        if (state_ == KernelState::dead) {
            next->finish(Finished{Outcome::kernel_died,
                                  Error(ErrorCode::kernel_died, "the kernel could not be restarted",
                                        "restart the context or make a new one")});
            continue;
        }
        co_await run(std::move(next));
    }
}

void Kernel::drop_stopped_from_queue() {
    for (auto at = queue_.begin(); at != queue_.end();) {
        if ((*at)->stop_reason() == StopReason::none) {
            ++at;
            continue;
        }
        (*at)->finish(
            Finished{Outcome::cancelled, Error(ErrorCode::cancelled, "taken back before it ran")});
        at = queue_.erase(at);
    }
}

asio::awaitable<void> Kernel::run(std::shared_ptr<Execution> execution) {
    const Request request = execute_request(session_, execution->request());
    const auto cell = std::make_shared<RunningCell>(execution, request.msg_id);
    current_ = cell;
    state_ = KernelState::busy;
    execution->set_running();
    const auto sent = co_await send(request);
    if (!sent) {
        cell->end_now(Outcome::internal, sent.error().in("sending the cell to the kernel"));
    }
    const auto timeout = execution->request().timeout;
    if (!co_await wait_done(*cell, steady_clock::now() + timeout)) {
        const bool stopped = execution->stop_reason() != StopReason::none;
        Outcome outcome = Outcome::timeout;
        Error error = timeout_error(timeout);
        if (stopped) {
            const bool cancelled = execution->stop_reason() == StopReason::cancelled;
            outcome = cancelled ? Outcome::cancelled : Outcome::interrupted;
            error = Error(ErrorCode::cancelled, cancelled ? "the caller went away" : "interrupted");
        }
        co_await end_by_force(*cell, outcome, std::move(error));
    }
    if (cell->reply() && cell->reply()->error && !cell->error_seen()) {
        OutputEvent told_in_reply = *cell->reply()->error;  // a kernel that says nothing on iopub
        co_await execution->deliver(std::move(told_in_reply), 0);
    }
    execution->finish(cell->finished());
    if (current_ == cell) current_.reset();
    if (state_ == KernelState::busy) state_ = KernelState::idle;
    changed_.notify_all();
}

// True: the cell is done. False: its deadline passed, or it shall be stopped.
asio::awaitable<bool> Kernel::wait_done(RunningCell& cell, Deadline deadline) {
    while (!cell.done()) {
        if (!cell.stopping() && cell.execution().stop_reason() != StopReason::none) co_return false;
        if (!cell.half_done()) {
            if (!co_await changed_.wait_until(deadline)) co_return cell.done();
            continue;
        }
        // The reply or `idle` is here and the other is due at once: a lost one must not hang the
        // caller.
        const auto tail = std::min(deadline, steady_clock::now() + limits::execution_tail_grace);
        if (!co_await changed_.wait_until(tail) && !cell.done()) {
            log::warning("execution_tail_lost", {{"kernel_id", spec_.id}});
            cell.end_now(cell.finished().outcome, {});
        }
    }
    co_return true;
}

asio::awaitable<void> Kernel::end_by_force(RunningCell& cell, Outcome outcome, Error error) {
    cell.set_stopping();
    co_await interrupt();  // a failure here shows in the wait below
    if (co_await wait_done(cell, steady_clock::now() + limits::execution_interrupt_grace)) {
        cell.override_outcome(outcome, error);
        co_return;
    }
    log::warning("cell_ignored_interrupt", {{"kernel_id", spec_.id}});
    error.cause += "; it ignored the interrupt, so its kernel was restarted: variables are gone";
    cell.end_now(outcome, error);
    // The caller has its answer as soon as the cell is cut off; the new process follows.
    cell.execution().finish(cell.finished());
    if (link_ == nullptr) co_return;
    current_.reset();
    const auto replaced = co_await replace_process();
    if (!replaced && link_ != nullptr && on_unresponsive_) {
        on_unresponsive_(replaced.error());
    }
}

void Kernel::end_running(Outcome outcome, Error error) {
    if (!current_) return;
    current_->end_now(outcome, std::move(error));
    changed_.notify_all();
}

// --- messages ----------------------------------------------------------------------------------

asio::awaitable<Result<void>> Kernel::send(const Request& request) {
    const auto stream = stream_;
    const std::vector<ByteView> frames = request.views();
    co_return co_await vm::link::write_kernel_message(*stream, request.channel, frames);
}

asio::awaitable<void> Kernel::read_messages() {
    const auto self = shared_from_this();
    std::size_t losses = 0;
    while (link_ != nullptr) {
        const auto stream = stream_;
        auto received = co_await vm::link::read_kernel_message(*stream);
        if (!received || !*received) {
            if (link_ == nullptr) co_return;
            const Error error =
                received ? Error(ErrorCode::connection_lost, "the stream ended") : received.error();
            log::warning("kernel_stream_lost", {{"kernel_id", spec_.id}, {"error", error.text()}});
            end_running(Outcome::internal, error.in("reading from the kernel"));
            if (link_->closed()) co_return;  // close() follows from the machine's end
            if (++losses > limits::kernel_stream_losses_max) {
                if (on_unresponsive_) on_unresponsive_(error);
                co_return;
            }
            open_stream();
            continue;
        }
        losses = 0;
        co_await on_message(**received);
    }
}

asio::awaitable<void> Kernel::on_message(const KernelMessage& message) {
    const auto routing = read_routing(message);
    if (!routing) {
        log::warning("kernel_message_refused",
                     {{"kernel_id", spec_.id}, {"error", routing.error().cause}});
        co_return;
    }
    const auto cell = current_;
    if (!cell || routing->parent_msg_id != cell->msg_id()) co_return;
    if (message.channel() == Channel::iopub) {
        co_await on_iopub(*cell, message, *routing);
    } else if (message.channel() == Channel::shell && routing->msg_type == "execute_reply") {
        on_reply(*cell, message);
    }
}

asio::awaitable<void> Kernel::on_iopub(RunningCell& cell, const KernelMessage& message,
                                       const Routing& routing) {
    auto read = read_output(message, routing);
    if (!read) {
        OutputEvent dropped = Dropped{read.error().cause};
        co_await cell.execution().deliver(std::move(dropped), 0);
        co_return;
    }
    if (read->idle) {
        cell.set_idle_seen();
        changed_.notify_all();
    } else if (read->event) {
        if (!cell.note(*read->event)) co_return;
        co_await cell.execution().deliver(std::move(*read->event), message.content().size());
    }
}

void Kernel::on_reply(RunningCell& cell, const KernelMessage& message) {
    auto reply = read_execute_reply(message);
    if (!reply) {
        log::warning("execute_reply_refused",
                     {{"kernel_id", spec_.id}, {"error", reply.error().cause}});
        return;  // the tail grace ends the execution
    }
    cell.set_reply(std::move(*reply));
    changed_.notify_all();
}

}  // namespace cellblock::kernel_proxy
