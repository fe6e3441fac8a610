#include "gateway/http/readiness.h"

#include <utility>

namespace cellblock::gateway::http {

namespace asio = boost::asio;
using std::chrono::steady_clock;

Readiness::Readiness(asio::any_io_executor executor, std::chrono::milliseconds patience)
    : patience_(patience), changed_(std::move(executor)) {}

void Readiness::doing(std::string what) {
    doing_ = std::move(what);
}

void Readiness::ready() {
    become(State::ready);
}

void Readiness::give_up() {
    if (state_ == State::preparing) become(State::given_up);
}

void Readiness::become(State state) {
    state_ = state;
    changed_.notify_all();
}

Error Readiness::refusal() const {
    if (state_ == State::given_up) {
        return Error(ErrorCode::unavailable, "the gateway is stopping", "its log says why");
    }
    const auto waited =
        std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - since_);
    return Error(ErrorCode::unavailable,
                 "the gateway is not ready yet: it has been starting for " +
                     std::to_string(waited.count()) + " s and is " + doing_,
                 "try again when GET /health answers 200; a template is built once, in a minute or "
                 "two");
}

Result<void> Readiness::check() const {
    if (!is_ready()) return fail(refusal());
    return {};
}

asio::awaitable<Result<void>> Readiness::wait() {
    const Deadline deadline = steady_clock::now() + patience_;
    while (state_ == State::preparing && co_await changed_.wait_until(deadline)) {
    }
    co_return check();
}

}  // namespace cellblock::gateway::http
