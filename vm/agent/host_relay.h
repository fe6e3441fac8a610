// Between the host's `kernel` stream and the sockets of a kernel's processes, one after the other.
//
// The stream comes and goes with the host, the sockets with the processes; the relay lives as long
// as the kernel. What the kernel says while no stream is open waits in bounded inboxes, and when
// these are full the kernel is paced. One writer coroutine sends: all of one process before
// anything of the next, control before stdin before shell before iopub. A message leaves its inbox
// only when a stream has taken it, so one that breaks loses nothing whole. A new stream replaces
// the old one. Owner: Kernel, by a shared_ptr that the coroutines share. Loop thread only.
#pragma once

#include <deque>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "vm/agent/kernel_channels.h"
#include "vm/link/kernel_message.h"

namespace cellblock::vm::agent {

class HostRelay : public std::enable_shared_from_this<HostRelay> {
  public:
    HostRelay(boost::asio::any_io_executor executor, DroppedHandler on_dropped);
    // Once, after the constructor.
    void start();

    void attach(link::StreamPtr stream);
    // The sockets of a new process.
    void serve(std::shared_ptr<KernelChannels> channels);
    // A message waits in one of the sockets, or one of them was closed.
    void notify() { changed_.notify_all(); }
    // No more processes: what is left is sent, then END.
    void close();

  private:
    boost::asio::awaitable<void> write_to_host();
    boost::asio::awaitable<Result<void>> send_one(link::StreamPtr stream, link::Channel channel,
                                                  const Multipart& message);
    boost::asio::awaitable<void> read_from_host(link::StreamPtr stream);

    boost::asio::any_io_executor executor_;
    DroppedHandler on_dropped_;
    std::deque<std::shared_ptr<KernelChannels>> processes_;  // the last one may be running
    link::StreamPtr stream_;
    Condition changed_;
    bool closed_ = false;
};

}  // namespace cellblock::vm::agent
