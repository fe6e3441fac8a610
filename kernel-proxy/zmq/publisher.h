// The iopub socket: an XPUB that loses nothing as long as its subscribers read.
//
// ZeroMQ's own PUB drops in silence past its mark. Here a full subscriber holds the next message
// back, and with it the kernel, for limits::zmq_subscriber_patience; one that has not moved by then
// misses what it has no room for (told in the log), until it reads again, so that it never stops
// the others. Owner: Server. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "base/clock.h"

namespace cellblock::kernel_proxy::zmq_door {

using Multipart = std::vector<zmq::message_t>;

class Publisher {
  public:
    // The socket is bound, and an XPUB with XPUB_NODROP.
    explicit Publisher(zmq::socket_t socket) : socket_(std::move(socket)) {}

    zmq::socket_t& socket() { return socket_; }
    // Not while blocked().
    void publish(Multipart message);
    // A message waits for room; retry() is due then.
    bool blocked() const { return waiting_.has_value(); }
    std::optional<Deadline> retry_at() const { return retry_at_; }
    void retry();

    // The topic of the next new subscription.
    std::optional<std::string> next_subscription();

  private:
    bool send(Multipart& message);
    void send_to_whom_it_fits(Multipart& message);

    zmq::socket_t socket_;
    std::optional<Multipart> waiting_;
    std::optional<Deadline> retry_at_;
    Deadline patient_until_ = Deadline::min();
    bool patience_lost_ = false;  // with a subscriber that has not read since
};

}  // namespace cellblock::kernel_proxy::zmq_door
