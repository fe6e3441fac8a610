// What the guest may forget of what its kernel said: all but what belongs to executions that are
// kept and is not on disk yet (kernel.h, execution.h). A gateway that takes over hears the rest
// again.
#include <algorithm>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"
#include "kernel-proxy/kernel.h"
#include "kernel-proxy/running_cell.h"
#include "vm/link/call.h"

namespace cellblock::kernel_proxy {

namespace asio = boost::asio;

namespace {

// A call costs the guest a millisecond under emulation; until then it keeps what it said, of which
// there is room for megabytes.
constexpr std::chrono::milliseconds acknowledge_delay{300};

}  // namespace

std::uint64_t Kernel::settled_through() {
    while (!settling_.empty() && settling_.front()->state() == ExecutionState::finished &&
           !settling_.front()->first_unsettled()) {
        settling_.pop_front();
    }
    std::uint64_t through = received_;
    for (const auto& execution : settling_) {
        if (const auto first = execution->first_unsettled())
            through = std::min(through, *first - 1);
    }
    return std::min(through, channels_->settled_through(received_));
}

std::optional<ChannelsImage> Kernel::clients() {
    auto image = channels_->image(settled_through());
    if (image.sessions.empty()) return std::nullopt;
    return image;
}

void Kernel::acknowledge_soon() {
    if (std::exchange(acknowledging_, true)) return;
    spawn(acknowledge(), "kernel_acknowledge");
}

asio::awaitable<void> Kernel::acknowledge() {
    const auto self = shared_from_this();
    asio::steady_timer timer(executor_);
    while (link_ != nullptr && acknowledged_ < received_) {
        if (frozen_ || settled_through() <= acknowledged_) {
            co_await changed_.wait();
            continue;
        }
        timer.expires_after(acknowledge_delay);
        co_await timer.async_wait(as_tuple_awaitable);
        const std::uint64_t through = settled_through();
        if (link_ == nullptr || frozen_ || through <= acknowledged_) continue;
        if (current_) {
            if (const auto keeper = current_->execution().keeper()) keeper->acknowledging(through);
        }
        if (keep_place_) keep_place_();
        acknowledged_ = through;
        const Json params = {{"kernel_id", spec_.guest_id}, {"position", through}};
        // When it fails the next one says more.
        (void)co_await vm::link::call(*link_, "kernel.acknowledge", params,
                                      limits::kernel_signal_timeout);
    }
    acknowledging_ = false;
}

// The gateway before this one may have sent it or not; the guest drops what it has had.
asio::awaitable<void> Kernel::send_again(std::shared_ptr<const Request> request) {
    const auto self = shared_from_this();
    const auto sent = co_await send(*request);
    if (!sent) end_running(Outcome::internal, sent.error().in("sending the cell to the kernel"));
}

}  // namespace cellblock::kernel_proxy
