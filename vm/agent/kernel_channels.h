// The four sockets of one kernel process, and the agent's own questions to it.
//
// The agent's requests (readiness, warm-up) run under a session of their own; their answers are
// taken out of the flow before anyone else sees them. Owner: Kernel; HostRelay reads them out.
// Loop thread only.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/json.h"
#include "vm/agent/jupyter_wire.h"
#include "vm/agent/zmq_channel.h"
#include "vm/link/kernel_message.h"

namespace cellblock::vm::agent {

using DroppedHandler = std::function<void(link::Channel channel, std::size_t bytes)>;

class KernelChannels : public std::enable_shared_from_this<KernelChannels> {
  public:
    ~KernelChannels() { close(); }
    // `on_message`: something waits for the host, or all was closed.
    static Result<std::shared_ptr<KernelChannels>> open(zmq::context_t& context,
                                                        boost::asio::any_io_executor executor,
                                                        KernelEndpoints endpoints,
                                                        std::function<void()> on_message,
                                                        DroppedHandler on_dropped);

    // The message that the host should hear next; none: message is null.
    struct Waiting {
        link::Channel channel = link::Channel::iopub;
        const Multipart* message = nullptr;
    };
    Waiting next() const;
    void pop(link::Channel which) { channel(which).pop(); }
    Multipart take(link::Channel which) { return channel(which).take(); }
    // Waits while the channel's outbox is full.
    boost::asio::awaitable<Result<void>> send(link::Channel which, Multipart message);

    // A request of the agent's own; the content of its reply. Fails with `timeout` at the deadline
    // and with kernel_died at close().
    boost::asio::awaitable<Result<Json>> request(link::Channel which, std::string type,
                                                 Json content, Deadline deadline);
    // Resumes when the kernel has answered on shell and was heard on iopub.
    boost::asio::awaitable<Result<void>> wait_ready(Deadline deadline);

    // No more from or to the sockets; what was received can still be read out.
    void close();
    bool closed() const { return closed_; }

  private:
    KernelChannels(boost::asio::any_io_executor executor, std::function<void()> on_message,
                   DroppedHandler on_dropped);
    Result<void> open_sockets(zmq::context_t& context, const KernelEndpoints& endpoints);
    bool take_own(link::Channel which, const Multipart& message);
    ZmqChannel& channel(link::Channel which) const {
        return *channels_[static_cast<std::size_t>(which)];
    }

    boost::asio::any_io_executor executor_;
    std::function<void()> on_message_;
    DroppedHandler on_dropped_;
    std::array<std::shared_ptr<ZmqChannel>, 4> channels_;  // by link::Channel
    // The agent's own requests.
    std::string session_;
    std::uint64_t requests_ = 0;
    std::string awaited_;  // the message id whose reply is awaited
    Json reply_;
    bool heard_on_iopub_ = false;
    Condition answered_;
    bool closed_ = false;
};

}  // namespace cellblock::vm::agent
