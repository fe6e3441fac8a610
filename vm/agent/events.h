// What the guest tells the host unasked: kernel deaths, dropped messages. One `events` stream per
// session; what happens while no host is there waits, bounded, the oldest goes first.
// Owner: Agent. Loop thread only.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "base/json.h"
#include "vm/link/link.h"

namespace cellblock::vm::agent {

class Events {
  public:
    explicit Events(boost::asio::any_io_executor executor);
    // Starts the coroutine that sends; the link must outlive this object's last use of it.
    void start(link::Link& link);
    // `fields` is an object; "event" is added.
    void emit(std::string_view event, Json fields);
    // A new host is there: the old stream is dead.
    void new_session();

  private:
    boost::asio::awaitable<void> send(link::Link& link);

    boost::asio::any_io_executor executor_;
    std::deque<std::string> queue_;
    std::uint64_t sent_ = 0;     // events ever taken off the queue's front
    std::uint64_t session_ = 0;  // counts new_session()
    Condition changed_;
};

}  // namespace cellblock::vm::agent
