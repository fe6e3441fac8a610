// Between the host's `kernel` stream and the sockets of a kernel's processes, one after the other.
//
// The stream comes and goes with the host, the sockets with the processes; the relay lives as long
// as the kernel. What the kernel says while no stream is open waits in bounded inboxes, and when
// these are full the kernel is paced. One writer coroutine sends: all of one process before
// anything of the next, control before stdin before shell before iopub. A message leaves its inbox
// only when a stream has taken it, so one that breaks loses nothing whole. A new stream replaces
// the old one. For a host that asks for it, what was sent is kept until it is confirmed: a host
// that was killed has taken what it never used. Owner: Kernel, by a shared_ptr that the coroutines
// share. Loop thread only.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "vm/agent/kernel_channels.h"
#include "vm/agent/retained_messages.h"
#include "vm/link/kernel_message.h"

namespace cellblock::vm::agent {

class HostRelay : public std::enable_shared_from_this<HostRelay> {
  public:
    HostRelay(boost::asio::any_io_executor executor, DroppedHandler on_dropped);
    // Once, after the constructor.
    void start();

    // `after`: absent, nothing is kept once it was sent; negative, the host counts messages from
    // now on and confirms them; else it goes on behind that position, or the stream is reset.
    void attach(link::StreamPtr stream, std::optional<std::int64_t> after);
    // The host needs nothing up to and including this position any more.
    void acknowledge(std::uint64_t position);
    // The sockets of a new process.
    void serve(std::shared_ptr<KernelChannels> channels);
    // A message waits in one of the sockets, or one of them was closed.
    void notify() { changed_.notify_all(); }
    // No more processes: what is left is sent, then END.
    void close();

  private:
    boost::asio::awaitable<void> write_to_host();
    void drop_silent_processes();
    void retain_next();
    boost::asio::awaitable<void> send_retained();
    boost::asio::awaitable<void> send_waiting();
    bool is_repeated(const link::KernelMessage& message);
    enum class Sent { yes, refused };
    boost::asio::awaitable<Result<Sent>> send_one(link::StreamPtr stream, link::Channel channel,
                                                  const Multipart& message);
    boost::asio::awaitable<void> read_from_host(link::StreamPtr stream);

    boost::asio::any_io_executor executor_;
    DroppedHandler on_dropped_;
    std::deque<std::shared_ptr<KernelChannels>> processes_;  // the last one may be running
    link::StreamPtr stream_;
    bool retaining_ = false;
    RetainedMessages retained_;
    std::deque<std::size_t> had_;     // the headers of the last messages to the kernel, hashed
    std::set<std::size_t> repeated_;  // of them, those that came by an earlier stream
    Condition changed_;
    bool closed_ = false;
};

}  // namespace cellblock::vm::agent
