// One ZeroMQ socket to a kernel, as two bounded queues and one coroutine that moves messages.
//
// ZMQ_FD is edge-triggered and only means "look at ZMQ_EVENTS"; any call on the socket may eat the
// edge. So exactly one coroutine, pump(), calls the socket, works until neither side can move, and
// only then waits for the descriptor or for a change of its queues. (The constructor and close()
// are on the same thread and before or after it.)
//
// Back-pressure: while the inbox is full the socket is not read; its small high-water mark then
// fills, and a kernel that does not drop is paced. Order within a channel is kept.
//
// Owner: KernelChannels, through a shared_ptr that pump() shares until it ends. Loop thread only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <zmq.hpp>

#include "base/condition.h"
#include "base/error.h"

namespace cellblock::vm::agent {

using Multipart = std::vector<zmq::message_t>;

std::size_t byte_count(const Multipart& message);

struct ZmqChannelOptions {
    zmq::socket_type type = zmq::socket_type::dealer;
    std::string endpoint;
    std::string routing_id;  // DEALER only
    std::size_t inbox_max_bytes = 0;
    int receive_high_water_mark = 0;
    // Sees every message first; true means that it took care of it.
    std::function<bool(const Multipart&)> filter;
    // A message was queued in the inbox.
    std::function<void()> on_message;
    // A message over the limits was discarded.
    std::function<void(std::size_t bytes)> on_dropped;

    ZmqChannelOptions() = default;
};

class ZmqChannel {
  public:
    static Result<std::shared_ptr<ZmqChannel>> open(zmq::context_t& context,
                                                    boost::asio::any_io_executor executor,
                                                    ZmqChannelOptions options);
    ~ZmqChannel();

    // From the kernel: the oldest message, or nullptr.
    Multipart* front() { return inbox_.empty() ? nullptr : &inbox_.front(); }
    void pop();
    // The oldest message; there is one.
    Multipart take();

    // To the kernel. Waits while the outbox is full; fails once closed.
    boost::asio::awaitable<Result<void>> send(Multipart message);

    void close();

  private:
    ZmqChannel(zmq::socket_t socket, boost::asio::any_io_executor executor,
               ZmqChannelOptions options);
    boost::asio::awaitable<void> pump();
    bool flush_outbox();
    bool drain_inbox();
    void accept(Multipart message);
    bool more_to_do();
    bool inbox_has_room() const { return inbox_bytes_ < options_.inbox_max_bytes; }
    void kick();

    ZmqChannelOptions options_;
    zmq::socket_t socket_;
    boost::asio::posix::stream_descriptor descriptor_;
    Condition outbox_room_;
    std::deque<Multipart> inbox_;
    std::deque<Multipart> outbox_;
    std::size_t inbox_bytes_ = 0;
    std::size_t outbox_bytes_ = 0;
    bool kicked_ = false;
    bool closed_ = false;
};

}  // namespace cellblock::vm::agent
