// The end of a cell: waiting for it, its deadline, and the ladder that ends it by force (kernel.h).
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "kernel-proxy/kernel.h"
#include "kernel-proxy/kernel_messages.h"
#include "kernel-proxy/running_cell.h"

namespace cellblock::kernel_proxy {

namespace asio = boost::asio;
using std::chrono::steady_clock;

// From the moment when the kernel has the cell to its end.
asio::awaitable<void> Kernel::see_through(std::shared_ptr<RunningCell> cell) {
    const auto execution = cell->execution_pointer();
    bool done = co_await wait_done(*cell, cell->deadline());
    // A pause moves the deadline.
    while (!done && execution->stop_reason() == StopReason::none &&
           steady_clock::now() < cell->deadline()) {
        done = co_await wait_done(*cell, cell->deadline());
    }
    if (!done) {
        const auto timeout = execution->request().timeout;
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
        if (frozen_) {
            co_await changed_.wait();
            continue;
        }
        if (!cell.stopping() && cell.execution().stop_reason() != StopReason::none) co_return false;
        if (!cell.half_done()) {
            if (!co_await changed_.wait_until(deadline) && !frozen_) co_return cell.done();
            continue;
        }
        // The reply or `idle` is here and the other is due at once: a lost one must not hang the
        // caller.
        const auto tail = std::min(deadline, steady_clock::now() + limits::execution_tail_grace);
        if (!co_await changed_.wait_until(tail) && !cell.done() && !frozen_) {
            log::warning("execution_tail_lost", {{"kernel_id", spec_.id}});
            cell.end_now(cell.finished().outcome, {});
        }
    }
    co_return true;
}

asio::awaitable<void> Kernel::end_by_force(RunningCell& cell, Outcome outcome, Error error) {
    cell.set_stopping();
    // Python runs its signal handlers between bytecodes: a signal that comes just before a system
    // call that sleeps is noticed when that call ends. A second one wakes it.
    for (int sent = 0; sent < limits::execution_interrupts_max; ++sent) {
        co_await interrupt();  // a failure here shows in the wait below
        if (co_await wait_done(cell, steady_clock::now() + limits::execution_interrupt_grace)) {
            cell.override_outcome(outcome, error);
            co_return;
        }
    }
    log::warning("cell_ignored_interrupt", {{"kernel_id", spec_.id}});
    error.cause += "; it ignored the interrupt, so its kernel was restarted: variables are gone";
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

}  // namespace cellblock::kernel_proxy
