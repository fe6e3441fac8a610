#include "vm/agent/zmq_channel.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/awaitable.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/spawn.h"

namespace cellblock::vm::agent {
namespace asio = boost::asio;

std::size_t byte_count(const Multipart& message) {
    std::size_t bytes = 0;
    for (const zmq::message_t& part : message) bytes += part.size();
    return bytes;
}

Result<std::shared_ptr<ZmqChannel>> ZmqChannel::open(zmq::context_t& context,
                                                     asio::any_io_executor executor,
                                                     ZmqChannelOptions options) {
    try {
        zmq::socket_t socket(context, options.type);
        socket.set(zmq::sockopt::linger, 0);
        socket.set(zmq::sockopt::rcvhwm, options.receive_high_water_mark);
        socket.set(zmq::sockopt::maxmsgsize,
                   static_cast<std::int64_t>(limits::agent_zmq_frame_max_bytes));
        // The kernel binds some time after we connect.
        socket.set(zmq::sockopt::reconnect_ivl, 20);
        socket.set(zmq::sockopt::reconnect_ivl_max, 200);
        if (options.type == zmq::socket_type::sub) {
            socket.set(zmq::sockopt::subscribe, "");
        } else {
            socket.set(zmq::sockopt::routing_id, options.routing_id);
        }
        socket.connect(options.endpoint);
        std::shared_ptr<ZmqChannel> channel(
            new ZmqChannel(std::move(socket), executor, std::move(options)));
        spawn_logged(executor, channel->pump(), "kernel socket", channel);
        return channel;
    } catch (const zmq::error_t& error) {
        return fail(ErrorCode::io,
                    "connecting to a kernel's socket " + options.endpoint + ": " + error.what());
    }
}

ZmqChannel::ZmqChannel(zmq::socket_t socket, asio::any_io_executor executor,
                       ZmqChannelOptions options)
    : options_(std::move(options)),
      socket_(std::move(socket)),
      descriptor_(executor, socket_.get(zmq::sockopt::fd)),
      outbox_room_(executor) {}

ZmqChannel::~ZmqChannel() {
    descriptor_.release();  // the descriptor is ZeroMQ's
}

void ZmqChannel::pop() {
    inbox_bytes_ -= byte_count(inbox_.front());
    inbox_.pop_front();
    if (inbox_has_room()) kick();
}

Multipart ZmqChannel::take() {
    Multipart message = std::move(inbox_.front());
    inbox_bytes_ -= byte_count(message);
    inbox_.pop_front();
    if (inbox_has_room()) kick();
    return message;
}

asio::awaitable<Result<void>> ZmqChannel::send(Multipart message) {
    while (!closed_ && outbox_bytes_ >= limits::agent_outbox_max_bytes) {
        co_await outbox_room_.wait();
    }
    if (closed_) co_return fail(ErrorCode::kernel_died, "the kernel has ended");
    outbox_bytes_ += byte_count(message);
    outbox_.push_back(std::move(message));
    kick();
    co_return Result<void>{};
}

void ZmqChannel::close() {
    if (closed_) return;
    closed_ = true;
    options_.filter = nullptr;
    options_.on_message = nullptr;
    options_.on_dropped = nullptr;
    outbox_room_.notify_all();
    kick();
}

void ZmqChannel::kick() {
    kicked_ = true;
    descriptor_.cancel();
}

asio::awaitable<void> ZmqChannel::pump() {
    while (!closed_) {
        kicked_ = false;
        try {
            const bool sent = flush_outbox();
            const bool received = drain_inbox();
            if (sent || received || more_to_do()) {
                // Others get their turn between two bursts.
                co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
                continue;
            }
        } catch (const zmq::error_t& error) {
            log::error("kernel_socket_failed", {{"reason", error.what()}});
            break;
        }
        if (kicked_ || closed_) continue;
        co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_read,
                                        as_tuple_awaitable);
    }
    closed_ = true;
    outbox_room_.notify_all();
}

// After the last call that could not move anything: is there an edge that it has eaten?
bool ZmqChannel::more_to_do() {
    const int events = socket_.get(zmq::sockopt::events);
    return ((events & ZMQ_POLLIN) != 0 && inbox_has_room()) ||
           ((events & ZMQ_POLLOUT) != 0 && !outbox_.empty());
}

bool ZmqChannel::flush_outbox() {
    bool moved = false;
    while (!outbox_.empty()) {
        Multipart& message = outbox_.front();
        const std::size_t bytes = byte_count(message);
        for (std::size_t i = 0; i < message.size(); ++i) {
            const auto more =
                i + 1 < message.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
            // Only the first part can be refused: the rest follow it into the same pipe.
            if (!socket_.send(message[i], more | zmq::send_flags::dontwait)) return moved;
        }
        outbox_.pop_front();
        outbox_bytes_ -= bytes;
        outbox_room_.notify_all();
        moved = true;
    }
    return moved;
}

bool ZmqChannel::drain_inbox() {
    constexpr int burst = 64;
    bool moved = false;
    for (int i = 0; i < burst && inbox_has_room(); ++i) {
        Multipart message;
        std::size_t bytes = 0;
        bool more = true;
        bool complete = true;
        while (more) {
            zmq::message_t part;
            // Parts of one message arrive together, so only the first can be missing.
            if (!socket_.recv(part, zmq::recv_flags::dontwait)) return moved;
            more = part.more();
            bytes += part.size();
            complete = complete && bytes <= limits::kernel_message_max_bytes &&
                       message.size() < limits::kernel_message_frames_max + 8;
            if (!complete && !message.empty()) message.clear();
            if (complete) message.push_back(std::move(part));
        }
        moved = true;
        if (complete) {
            accept(std::move(message));
        } else if (options_.on_dropped) {
            options_.on_dropped(bytes);
        }
    }
    return moved;
}

void ZmqChannel::accept(Multipart message) {
    if (options_.filter && options_.filter(message)) return;
    inbox_bytes_ += byte_count(message);
    inbox_.push_back(std::move(message));
    if (options_.on_message) options_.on_message();
}

}  // namespace cellblock::vm::agent
