// Kernel's queue of executions (kernel.h); how a cell ends is in kernel_ladder.cc.
#include <utility>

#include "base/log.h"
#include "kernel-proxy/kernel.h"
#include "kernel-proxy/kernel_messages.h"
#include "kernel-proxy/running_cell.h"

namespace cellblock::kernel_proxy {

namespace asio = boost::asio;
using std::chrono::steady_clock;

Result<std::shared_ptr<Execution>> Kernel::execute(ExecuteRequest request) {
    auto execution = std::make_shared<Execution>(executor_, std::move(request));
    CB_TRY(execute(execution));
    return execution;
}

Result<void> Kernel::execute(std::shared_ptr<Execution> execution) {
    CB_TRY(check_may_queue(execution->request()));
    listen_for_stop(*execution);
    queue_.push_back(std::move(execution));
    changed_.notify_all();
    return {};
}

Result<void> Kernel::check_may_queue(const ExecuteRequest& request) const {
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
    return {};
}

void Kernel::listen_for_stop(Execution& execution) {
    execution.set_stop_listener([this] {
        drop_stopped_from_queue();
        changed_.notify_all();
    });
    execution.set_settle_listener([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->changed_.notify_all();
    });
}

asio::awaitable<void> Kernel::run_queue() {
    const auto self = shared_from_this();
    if (current_) co_await see_through(current_);  // of the image that was adopted
    while (link_ != nullptr) {
        drop_stopped_from_queue();
        if (queue_.empty()) {
            co_await changed_.wait();
            continue;
        }
        // A client's cell comes first: to stop ours, the kernel is interrupted.
        if (state_ == KernelState::restarting || frozen_ || channels_->client_cell_running()) {
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
    settling_.push_back(execution);
    if (const auto keeper = execution->keeper()) {
        keeper->sending(as_text(request.frames.front()), received_);
    }
    const auto sent = co_await send(request);
    if (!sent) {
        cell->end_now(Outcome::internal, sent.error().in("sending the cell to the kernel"));
    }
    cell->set_sent(steady_clock::now() + execution->request().timeout);
    co_await see_through(cell);
}

void Kernel::end_running(Outcome outcome, Error error) {
    if (!current_) return;
    current_->end_now(outcome, std::move(error));
    changed_.notify_all();
}

}  // namespace cellblock::kernel_proxy
