#include "vm/link/wait_list.h"

#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace cellblock::vm::link {

// Not asio's any_completion_handler: version 1.26 recurses for ever when one is copied from an
// lvalue.
struct WaitList::Waiter {
    virtual ~Waiter() = default;
    // Resumes the coroutine; once.
    virtual void complete(WaitResult result) = 0;

    WaitList* list = nullptr;  // null once it was woken
    std::list<std::shared_ptr<Waiter>>::iterator position;
    boost::asio::cancellation_slot slot;
    std::optional<boost::asio::steady_timer> timer;
};

template <typename Handler>
struct WaitList::WaiterOf final : WaitList::Waiter {
    explicit WaiterOf(Handler handler_) : handler(std::move(handler_)) {}
    void complete(WaitResult result) override {
        Handler once = std::move(handler);
        std::move(once)(result);
    }
    Handler handler;
};

WaitList::WaitList(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

WaitList::~WaitList() {
    notify_all();
}

void WaitList::finish(const std::shared_ptr<Waiter>& waiter, WaitResult result) {
    // `waiter` may refer to the list's own element.
    const std::shared_ptr<Waiter> kept = waiter;
    WaitList& list = *std::exchange(kept->list, nullptr);
    list.waiters_.erase(kept->position);
    if (kept->timer) kept->timer->cancel();
    // Inside its own handler (cancelled) a slot must not be cleared.
    if (result != WaitResult::cancelled && kept->slot.is_connected()) kept->slot.clear();
    boost::asio::post(list.executor_, [kept, result] { kept->complete(result); });
}

boost::asio::awaitable<WaitResult> WaitList::start(std::unique_ptr<Deadline> deadline) {
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void(WaitResult)>(
        [this](auto handler, std::unique_ptr<Deadline> until) {
            const auto slot = boost::asio::get_associated_cancellation_slot(handler);
            using Handler = std::remove_cvref_t<decltype(handler)>;
            std::shared_ptr<Waiter> waiter =
                std::make_shared<WaiterOf<Handler>>(std::move(handler));
            waiter->list = this;
            waiter->slot = slot;
            waiter->position = waiters_.insert(waiters_.end(), waiter);
            const std::weak_ptr<Waiter> weak = waiter;
            if (waiter->slot.is_connected()) {
                waiter->slot.assign([weak](boost::asio::cancellation_type) {
                    const auto found = weak.lock();
                    if (found && found->list) finish(found, WaitResult::cancelled);
                });
            }
            if (until) {
                waiter->timer.emplace(executor_, *until);
                waiter->timer->async_wait([weak](boost::system::error_code error) {
                    const auto found = weak.lock();
                    if (!error && found && found->list) finish(found, WaitResult::timed_out);
                });
            }
        },
        boost::asio::use_awaitable, std::move(deadline));
}

boost::asio::awaitable<WaitResult> WaitList::wait() {
    return start(nullptr);
}

boost::asio::awaitable<WaitResult> WaitList::wait_until(Deadline deadline) {
    return start(std::make_unique<Deadline>(deadline));
}

void WaitList::notify_one() {
    if (!waiters_.empty()) finish(waiters_.front(), WaitResult::notified);
}

void WaitList::notify_all() {
    while (!waiters_.empty()) notify_one();
}

}  // namespace cellblock::vm::link
