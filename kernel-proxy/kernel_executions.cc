// Kernel, second half: the queue of executions and the ladder that ends a cell.
#include <utility>

#include "base/log.h"
#include "kernel-proxy/kernel.h"
#include "kernel-proxy/kernel_messages.h"
#include "kernel-proxy/running_cell.h"

namespace cellblock::kernel_proxy {

namespace asio = boost::asio;
using std::chrono::steady_clock;

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
        // A client's cell comes first: to stop ours, the kernel is interrupted.
        if (state_ == KernelState::restarting || channels_->client_cell_running()) {
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
    cell.end_now(outcome, error);
    // The caller has its answer as soon as the cell is cut off; the new process follows.
    cell.execution().finish(cell.finished());
    if (link_ == nullptr) co_return;
    current_.reset();
    const auto replaced = co_await replace_process(Announce::yes);
    if (!replaced && link_ != nullptr && on_unresponsive_) {
        on_unresponsive_(replaced.error());
    }
}

void Kernel::end_running(Outcome outcome, Error error) {
    if (!current_) return;
    current_->end_now(outcome, std::move(error));
    changed_.notify_all();
}

}  // namespace cellblock::kernel_proxy
