// Lets a few coroutines through at a time; those that somebody waits for (urgent) before the rest.
// Owner: the pool's state, which outlives every pass. Loop thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"

namespace cellblock::vm {

class StartGate {
  public:
    enum class Urgency { urgent, background };

    // Given back on destruction, by the coroutine that holds it.
    class Pass {
      public:
        explicit Pass(StartGate* gate) : gate_(gate) {}
        Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
        Pass& operator=(Pass&&) = delete;
        ~Pass() {
            if (gate_) gate_->leave();
        }

      private:
        StartGate* gate_;
    };

    StartGate(boost::asio::any_io_executor executor, std::size_t width)
        : executor_(std::move(executor)), free_(width) {}

    std::size_t waiting_urgent() const { return urgent_.size(); }

    boost::asio::awaitable<Pass> enter(Urgency urgency) {
        if (free_ > 0) {
            --free_;
            co_return Pass(this);
        }
        auto& queue = urgency == Urgency::urgent ? urgent_ : background_;
        const auto ticket = std::make_shared<Ticket>(executor_);
        queue.push_back(ticket);
        // If this coroutine is destroyed in its wait, its turn goes to the next one.
        struct Guard {
            StartGate& gate;
            std::shared_ptr<Ticket> held;
            Guard(StartGate& g, std::shared_ptr<Ticket> t) : gate(g), held(std::move(t)) {}
            ~Guard() {
                if (!held) return;
                held->abandoned = true;
                if (held->called) gate.leave();
            }
        } guard(*this, ticket);
        while (!ticket->called) {
            co_await ticket->timer.async_wait(as_tuple_awaitable);
        }
        guard.held = nullptr;
        co_return Pass(this);
    }

  private:
    struct Ticket {
        boost::asio::steady_timer timer;
        bool called = false;
        bool abandoned = false;
        explicit Ticket(const boost::asio::any_io_executor& executor)
            : timer(executor, std::chrono::steady_clock::time_point::max()) {}
    };

    void leave() {
        for (auto* queue : {&urgent_, &background_}) {
            while (!queue->empty()) {
                const auto next = queue->front();
                queue->pop_front();
                if (next->abandoned) continue;
                next->called = true;
                next->timer.cancel();
                return;
            }
        }
        ++free_;
    }

    boost::asio::any_io_executor executor_;
    std::size_t free_;
    std::deque<std::shared_ptr<Ticket>> urgent_;
    std::deque<std::shared_ptr<Ticket>> background_;
};

}  // namespace cellblock::vm
