// Whether the parts behind the routes are there yet. Until then a request waits, for a bounded
// time, and is then refused with what is being done; so nobody stares at a silent port while a
// template is built.
//
// Owner: the composition root; it outlives the server's connections. Loop thread only.
#pragma once

#include <chrono>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "base/error.h"

namespace cellblock::gateway::http {

class Readiness {
  public:
    // A request waits for `patience` at most.
    Readiness(boost::asio::any_io_executor executor, std::chrono::milliseconds patience);

    // What is being done now: "building the template: starting a kernel".
    void doing(std::string what);
    void ready();
    // It will never be: those that wait are refused now.
    void give_up();

    bool is_ready() const { return state_ == State::ready; }
    // ErrorCode::unavailable, with what is being done and for how long, unless ready.
    Result<void> check() const;
    // At once when ready, else within the patience.
    boost::asio::awaitable<Result<void>> wait();

  private:
    enum class State { preparing, ready, given_up };
    void become(State state);
    Error refusal() const;

    const std::chrono::milliseconds patience_;
    const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
    State state_ = State::preparing;
    std::string doing_ = "getting ready";
    Condition changed_;
};

}  // namespace cellblock::gateway::http
