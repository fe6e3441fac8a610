// A kernel in a guest, seen from the host: its process, its message stream and its queue of
// executions.
//
// Owner: the sandbox's contexts (shared_ptr, because its two coroutines outlive a deletion by one
// turn of the loop). Loop thread only.
//
//   starting --ready--> idle <--> busy
//      idle/busy --the process ended, or restart()--> restarting --ready--> idle
//      any --close(), or a restart that failed--> dead      (dead: every execution fails at once)
//
// Executions run one at a time in the order they came: the host sends a request only when the one
// before has finished and no Jupyter client's cell runs, so a queued one can be taken back, its
// timeout starts when it runs, and stopping it stops nothing else. Jupyter clients (channels.h)
// share the same stream: what they send goes on at once.
//
// The ladder that ends a cell which must end (deadline, caller gone): SIGINT, wait
// limits::execution_interrupt_grace, both twice; a new kernel process, wait
// limits::execution_restart_grace; then `on_unresponsive` (the sandbox kills the microVM). Each
// step is bounded, so the ladder always ends.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "kernel-proxy/channels.h"
#include "kernel-proxy/execution.h"
#include "kernel-proxy/kernel_image.h"
#include "kernel-proxy/message.h"
#include "vm/link/link.h"

namespace cellblock::kernel_proxy {

// Whether Jupyter clients are told that the process is replaced: the one that asked knows, and
// takes the news for a crash.
enum class Announce { no, yes };

class Kernel : public std::enable_shared_from_this<Kernel> {
  public:
    // `link` outlives the kernel's life until close(). `on_unresponsive` may destroy the sandbox,
    // but not inside the call.
    Kernel(boost::asio::any_io_executor executor, vm::link::Link& link, KernelSpec spec,
           std::function<void(Error)> on_unresponsive);
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    ~Kernel();

    // Starts a process in the guest, or takes over the one that the template brought.
    boost::asio::awaitable<Result<void>> start();
    void adopt(std::int64_t running_pid);
    // Goes on where `image` was taken, in a copy of its guest. `stream`: the copy's kernel stream;
    // null when it could not be copied, and then no cell is running there either.
    void adopt(const KernelImage& image, vm::link::StreamPtr stream);
    KernelImage image() const;
    // The execution of the cell that runs; null: none does. In a copy it has to be taken from, or
    // discarded: nobody else does.
    std::shared_ptr<Execution> running() const;
    std::shared_ptr<RunningCell> running_cell() const { return current_; }
    // What the clients that may come back have; std::nullopt: there are none.
    std::optional<ChannelsImage> clients();
    // `listener` writes it down: called before it changes for the guest or the kernel.
    void on_place_changed(std::function<void()> listener) { keep_place_ = std::move(listener); }
    // Until it neither starts nor restarts nor ends a cell by force: an image of that is of no use.
    boost::asio::awaitable<void> wait_settled(Deadline deadline);
    // The guest stands still: nothing is sent, no deadline passes, nothing is forced, until thaw().
    void freeze();
    void thaw();

    const KernelSpec& spec() const { return spec_; }
    KernelState state() const { return state_; }
    // As Jupyter tells it: busy too when a client's request runs.
    std::string_view execution_state() const;
    // Jupyter clients attach here.
    Channels& channels() { return *channels_; }
    const Channels& channels() const { return *channels_; }
    std::size_t queued() const { return queue_.size() + (current_ ? 1 : 0); }

    // Queues a cell. too_many when the queue is full; kernel_died when the kernel is dead.
    Result<std::shared_ptr<Execution>> execute(ExecuteRequest request);
    Result<void> execute(std::shared_ptr<Execution> execution);
    // Interrupts the running cell, if any; queued ones stay.
    boost::asio::awaitable<Result<void>> interrupt();
    // A new process with the same id, environment and directory. The running cell ends as
    // `restarted`.
    boost::asio::awaitable<Result<void>> restart(Announce announce = Announce::yes);
    // Ends the process in the guest and everything queued.
    boost::asio::awaitable<Result<void>> stop();

    // A client shut the kernel down (by message), and its process has ended: it is to be deleted.
    void on_shut_down(std::function<void()> listener) { on_shut_down_ = std::move(listener); }

    // From the guest's event stream.
    void on_died(const KernelDeath& death);
    // The microVM is gone, or the sandbox is being deleted: everything ends with `outcome`. Final.
    void close(Outcome outcome, Error error);

  private:
    boost::asio::awaitable<void> run_queue();
    Result<void> check_may_queue(const ExecuteRequest& request) const;
    void drop_stopped_from_queue();
    void listen_for_stop(Execution& execution);
    boost::asio::awaitable<void> run(std::shared_ptr<Execution> execution);
    boost::asio::awaitable<void> see_through(std::shared_ptr<RunningCell> cell);
    boost::asio::awaitable<bool> wait_done(RunningCell& cell, Deadline deadline);
    boost::asio::awaitable<void> end_by_force(RunningCell& cell, Outcome outcome, Error error);
    void end_running(Outcome outcome, Error error);
    boost::asio::awaitable<Result<void>> replace_process(Announce announce);
    boost::asio::awaitable<void> restart_after_death(Announce announce);

    Channels::KernelSide side_for_channels();
    boost::asio::awaitable<Result<void>> wait_for_process();
    boost::asio::awaitable<Result<void>> send_from_client(const ClientMessage& message);
    boost::asio::awaitable<void> interrupt_for_channels();

    boost::asio::awaitable<Result<void>> send(const Request& request);
    boost::asio::awaitable<void> read_messages();
    boost::asio::awaitable<void> on_message(SharedMessage message, std::uint64_t position);
    boost::asio::awaitable<void> on_iopub(RunningCell& cell, const KernelMessage& message,
                                          const Routing& routing);
    void on_reply(RunningCell& cell, const KernelMessage& message);
    std::shared_ptr<RunningCell> copy_of(const RunningCell& cell) const;
    // anew: messages are counted from 1. on: from where it was; the guest says the rest again.
    enum class Counting { anew, on };
    void open_stream(Counting counting);
    // kernel_acknowledge.cc
    std::uint64_t settled_through();
    void acknowledge_soon();
    boost::asio::awaitable<void> acknowledge();
    boost::asio::awaitable<void> send_again(std::shared_ptr<const Request> request);
    void spawn(boost::asio::awaitable<void> task, std::string name);

    boost::asio::any_io_executor executor_;
    vm::link::Link* link_;  // null once closed
    KernelSpec spec_;
    std::function<void(Error)> on_unresponsive_;
    std::function<void()> on_shut_down_;
    std::function<void()> keep_place_;
    std::uint64_t logged_through_ = 0;  // what an earlier gateway has on disk of the running cell
    std::optional<AfterShutdown> expected_exit_;
    KernelState state_ = KernelState::starting;
    std::string session_;
    std::int64_t pid_ = 0;
    vm::link::StreamPtr stream_;
    std::uint64_t received_ = 0;      // messages, as the guest counts them
    std::uint64_t acknowledged_ = 0;  // told to the guest
    bool acknowledging_ = false;
    std::deque<std::shared_ptr<Execution>> settling_;  // may have unsettled messages
    std::deque<std::shared_ptr<Execution>> queue_;
    std::shared_ptr<RunningCell> current_;
    bool frozen_ = false;
    Deadline frozen_at_;
    std::shared_ptr<Channels> channels_;
    Condition changed_;
};

}  // namespace cellblock::kernel_proxy
