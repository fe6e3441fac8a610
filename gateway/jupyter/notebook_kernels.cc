#include "gateway/jupyter/notebook_kernels.h"

#include <utility>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/log.h"
#include "base/spawn.h"

namespace cellblock::gateway::jupyter {

namespace asio = boost::asio;
using asio::awaitable;

namespace {
// After a kernel could not be made, for want of memory perhaps, and before the next try.
constexpr std::chrono::seconds retry_interval{5};
}  // namespace

NotebookKernels::Prepared::Prepared(PlacedKernel kernel_)
    : kernel(std::move(kernel_)), pid(kernel.kernel().image().pid) {}

bool NotebookKernels::Prepared::intact() const {
    const auto state = kernel.kernel().state();
    return state != kernel_proxy::KernelState::restarting &&
           state != kernel_proxy::KernelState::dead && kernel.kernel().image().pid == pid;
}

NotebookKernels::Lease::~Lease() {
    if (owner_) owner_->give_back(*this);
}

awaitable<Result<void>> NotebookKernels::start(std::size_t count) {
    while (free_.size() < count) {
        CB_CO_TRY_ASSIGN(kernel, co_await door_.start_kernel(NewKernel()));
        free_.emplace_back(std::move(kernel));
    }
    co_return Result<void>();
}

awaitable<Result<NotebookKernels::Lease>> NotebookKernels::take(Deadline deadline) {
    while (true) {
        while (!free_.empty()) {
            Lease lease(shared_from_this(), std::move(free_.front()));
            free_.pop_front();
            // One that ended while nobody used it is replaced as the lease goes.
            if (lease.prepared_.intact()) co_return lease;
        }
        const bool changed = co_await changed_.wait_until(deadline);
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) {
            co_return fail(ErrorCode::cancelled, "nobody waits for the answer any more");
        }
        if (!changed) {
            co_return fail(ErrorCode::too_many, "all kernels of the notebook are busy",
                           "try again, or start the gateway with more of them (pool_size)");
        }
    }
}

void NotebookKernels::give_back(Lease& lease) {
    if (stopping_) return;
    if (!lease.sound_ || !lease.prepared_.intact()) {
        spawn_logged(executor_, replace(std::move(lease.prepared_.kernel)), "notebook_kernel",
                     shared_from_this());
        return;
    }
    free_.push_back(std::move(lease.prepared_));
    changed_.notify_all();
}

awaitable<void> NotebookKernels::replace(PlacedKernel old) {
    log::info("notebook_kernel_replaced", {{"kernel_id", old.context->id()}});
    if (const auto removed = co_await remove_kernel(door_.services.sandboxes, std::move(old));
        !removed) {
        log::info("notebook_kernel_was_gone", {{"reason", removed.error().text()}});
    }
    asio::steady_timer timer(executor_);
    while (!stopping_) {
        auto kernel = co_await door_.start_kernel(NewKernel());
        if (kernel) {
            free_.emplace_back(std::move(*kernel));
            changed_.notify_all();
            co_return;
        }
        log::warning("notebook_kernel_failed", {{"error", kernel.error().text()}});
        timer.expires_after(retry_interval);
        co_await timer.async_wait(as_tuple_awaitable);
    }
}

}  // namespace cellblock::gateway::jupyter
