// What the Kernel knows of the cell that runs: which messages belong to it and how it is going to
// end. A cell is done when its execute_reply and its `idle` status are both here (they travel on
// different channels and may come in either order), or when it was ended from outside.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel-proxy/execution.h"
#include "kernel-proxy/kernel_messages.h"

namespace cellblock::kernel_proxy {

class RunningCell {
  public:
    RunningCell(std::shared_ptr<Execution> execution, std::string msg_id)
        : execution_(std::move(execution)), msg_id_(std::move(msg_id)) {}

    // The same cell in a copy of its kernel, under an execution of its own.
    RunningCell(const RunningCell& original, std::shared_ptr<Execution> execution)
        : RunningCell(original) {
        execution_ = std::move(execution);
        stopping_ = false;
    }

    Execution& execution() { return *execution_; }
    const Execution& execution() const { return *execution_; }
    const std::shared_ptr<Execution>& execution_pointer() const { return execution_; }
    const std::string& msg_id() const { return msg_id_; }

    // The kernel has the whole request, and until when the cell may run.
    void set_sent(Deadline deadline) {
        sent_ = true;
        deadline_ = deadline;
    }
    bool sent() const { return sent_; }
    Deadline deadline() const { return deadline_; }

    void set_idle_seen() { idle_seen_ = true; }
    void set_reply(ExecuteReply reply) { reply_ = std::move(reply); }
    // Looks at an event on its way; false: it must not be delivered. An error on iopub says more
    // than the reply's summary of it. The KeyboardInterrupt of our own interrupt is no error of the
    // cell: it only tells where the cell was, and the typed end carries that.
    bool note(const OutputEvent& event) {
        const auto* error = std::get_if<CellError>(&event);
        if (error == nullptr) return true;
        error_seen_ = true;
        if (stopping_) interrupted_at_ = error->traceback;
        return !stopping_;
    }
    bool error_seen() const { return error_seen_; }
    // ... by an earlier gateway.
    void set_error_seen() { error_seen_ = true; }

    // The end as forced from outside; the first one counts.
    void end_now(Outcome outcome, Error error) {
        if (!forced_) forced_ = Finished(outcome, std::move(error));
    }
    // The cell ended by itself after an interrupt of ours: say why it was interrupted. One that
    // swallowed a client's interrupt, or was done in the same moment, has simply succeeded; past
    // its timeout nothing has (a shell that IPython's `!` waits for swallows interrupts).
    void override_outcome(Outcome outcome, Error error) {
        if (!forced_ && (outcome == Outcome::timeout || finished().outcome != Outcome::ok)) {
            forced_ = Finished(outcome, std::move(error), interrupted_at_);
        }
    }
    void set_stopping() { stopping_ = true; }
    bool stopping() const { return stopping_; }

    bool done() const { return forced_.has_value() || (reply_.has_value() && idle_seen_); }
    bool half_done() const { return reply_.has_value() || idle_seen_; }
    const std::optional<ExecuteReply>& reply() const { return reply_; }

    Finished finished() const {
        if (forced_) return *forced_;
        if (reply_ && reply_->status == ReplyStatus::aborted) {
            return Finished{Outcome::aborted,
                            Error(ErrorCode::cancelled,
                                  "the kernel skipped it because an earlier cell failed")};
        }
        if (error_seen_ || (reply_ && reply_->status == ReplyStatus::error)) {
            return Finished(Outcome::error);
        }
        return Finished();
    }

  private:
    std::shared_ptr<Execution> execution_;
    std::string msg_id_;
    bool sent_ = false;
    Deadline deadline_;
    bool idle_seen_ = false;
    bool error_seen_ = false;
    bool stopping_ = false;
    std::vector<std::string> interrupted_at_;
    std::optional<ExecuteReply> reply_;
    std::optional<Finished> forced_;
};

}  // namespace cellblock::kernel_proxy
