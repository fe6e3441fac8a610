// A sandbox: one microVM, and in it one or more contexts (kernels), under one environment and one
// deadline.
//
// Owner: the SandboxManager (shared_ptr: requests in flight keep it until they end). Loop thread
// only. Invariant: once gone, every context is closed and every execution has ended with a typed
// reason; the sandbox never comes back.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/condition.h"
#include "base/error.h"
#include "gateway/sandboxes/context.h"
#include "gateway/sandboxes/sandbox_image.h"
#include "gateway/sandboxes/sandbox_note.h"
#include "kernel-proxy/guest_events.h"
#include "kernel-proxy/kernel.h"
#include "vm/machine/machine.h"

namespace cellblock::gateway {

// What a machine is told when it becomes sandbox `id`. leave: its kernels were a sandbox's already,
// and have their environment with what their cells made of it.
enum class ClaimEnvironment { set, leave };
vm::ClaimRequest claim_for(const std::string& id, const SandboxSpec& spec,
                           ClaimEnvironment environment);

enum class SandboxState { running, paused, gone };
std::string_view to_string(SandboxState state);

// Under which ids the contexts of an image go on. own: the image's, in the same sandbox again.
// fresh: new ones, because the original lives on; the old ones find them too.
enum class ContextIds { own, fresh };

// How a sandbox gets a machine for a state: of the image, or (null link) of what is on disk.
using StartFromState = std::function<boost::asio::awaitable<Result<std::unique_ptr<vm::Machine>>>(
    std::shared_ptr<vm::link::Link> link, vm::RestoredAs restored_as)>;

class Sandbox : public std::enable_shared_from_this<Sandbox> {
  public:
    Sandbox(boost::asio::any_io_executor executor, std::string id, SandboxSpec spec,
            std::unique_ptr<vm::Machine> machine);
    // One that an earlier gateway paused.
    Sandbox(boost::asio::any_io_executor executor, std::string id, SandboxImage image,
            WallTime started_at);
    // One that an earlier gateway left running.
    Sandbox(boost::asio::any_io_executor executor, const SandboxNote& note,
            std::unique_ptr<vm::Machine> machine);
    ~Sandbox();

    // Takes over the kernel that the template brought. Once, before anything else.
    Result<void> open();
    // Takes over what the image had, in a machine that was restored from it: contexts, and, where
    // the link came with it, running cells, which go on. What they say is thrown away, but for the
    // execution `heard`, whose events wait to be taken. Instead of open().
    Result<void> open(const SandboxImage& image, ContextIds ids, const std::string& heard = {});
    // Goes on with the contexts that the note tells of; those whose process has ended meanwhile get
    // a new one. Instead of open().
    void open(const SandboxNote& note);
    // The context in which that execution runs; null: none does.
    ContextPointer context_running(const std::string& execution_id) const;

    const std::string& id() const { return id_; }
    const SandboxSpec& spec() const { return spec_; }
    WallTime started_at() const { return started_at_; }
    WallTime ends_at() const { return ends_at_; }
    bool gone() const { return gone_; }
    SandboxState state() const;
    // Running and queued, over all contexts.
    std::size_t executions() const;
    // Null while the sandbox is paused.
    const vm::Machine* machine() const { return machine_.get(); }
    // Valid until the next co_await. While paused its operations wait, or fail; once gone they
    // fail.
    vm::link::Link& link() { return machine_ ? machine_->link() : *link_; }
    // While it is held the sandbox is in use: its timeout does not pause it.
    std::shared_ptr<Sandbox> lease();

    // Contexts in the order in which they were made.
    const std::vector<ContextPointer>& contexts() const { return contexts_; }
    Result<ContextPointer> find_context(const std::string& id) const;
    boost::asio::awaitable<Result<ContextPointer>> create_context(ContextSpec spec);
    // The context for requests that name none: the template's, or a new one when that was deleted.
    boost::asio::awaitable<Result<ContextPointer>> default_context(std::string language);
    boost::asio::awaitable<Result<void>> delete_context(const std::string& id);

    // Until no change of state (pause, resume, restore, copy) is under way.
    boost::asio::awaitable<void> wait_for_turn();

    // The sandbox as it is, for copies; it stands still for that long. Waits for kernels that are
    // being started.
    boost::asio::awaitable<Result<SandboxImage>> capture();
    // Stands still, is given to `save`, and then costs nothing until resume(): running cells,
    // clients that wait for them and queued cells wait too. When anything fails, a full disk say,
    // it goes on as if nothing had been. `conflict` when it is paused already.
    using Save = std::function<boost::asio::awaitable<Result<void>>(const SandboxImage&)>;
    boost::asio::awaitable<Result<void>> pause(Save save);
    // As it was, with another machine. No effect when it runs. After an error it is still paused.
    boost::asio::awaitable<Result<void>> resume(StartFromState start);
    // Becomes what `image` was: running cells end as `restarted`. After an error it is as before.
    boost::asio::awaitable<Result<void>> restore(SandboxImage image, ContextIds ids,
                                                 StartFromState start);
    void set_snapshot(std::string id);

    // The sandbox of requests that name none.
    bool is_callers_default() const { return callers_default_ == CallersDefault::yes; }
    void set_callers_default();

    // From now on: the sandbox ends `timeout` from now. extend_timeout never shortens.
    void set_timeout(std::chrono::seconds timeout);
    void extend_timeout(std::chrono::seconds timeout);

    // Ends everything: executions with sandbox_gone and this reason, then the microVM.
    boost::asio::awaitable<void> kill(Error reason);
    // Called once, when the sandbox has gone for whatever reason (its VM may end by itself).
    void on_gone(std::function<void(const Error&)> listener) { on_gone_ = std::move(listener); }
    // Called when the timeout has come and its spec says to pause; nobody uses it then.
    void on_idle(std::function<void()> listener) { on_idle_ = std::move(listener); }

  private:
    ContextPointer add_context(ContextSpec spec, std::string guest_id);
    boost::asio::awaitable<void> let_go_of(std::string context_id);
    ContextPointer add_kernel(std::string language, kernel_proxy::KernelSpec kernel);
    void add_contexts(const std::vector<ContextImage>& images, ContextIds ids,
                      const std::string& heard = {});
    void accept_stream(vm::link::StreamPtr stream);
    SandboxImage image() const;  // without the machine's state
    Result<void> check_can_be_copied() const;
    std::vector<ContextImage> context_images() const;
    // sandbox_adopt.cc
    SandboxNote note() const;
    void note_down();
    void note_down_soon();
    boost::asio::awaitable<void> note_down_later();
    boost::asio::awaitable<void> replace_lost(ContextPointer context, std::int64_t pid);
    boost::asio::awaitable<void> stop_unknown(std::string guest_id);
    // One change of state at a time.
    class Change;
    boost::asio::awaitable<void> wait_settled();
    void forget_running(const Error& reason);
    boost::asio::awaitable<Result<std::unique_ptr<vm::Machine>>> start_claimed(
        StartFromState start);
    void close_contexts(kernel_proxy::Outcome outcome, const Error& reason);
    void start_watch();
    boost::asio::awaitable<void> watch_deadline();
    void listen_to_guest();
    void close(const Error& reason);
    void say_gone(const Error& reason);

    boost::asio::any_io_executor executor_;
    std::string id_;
    SandboxSpec spec_;
    std::unique_ptr<vm::Machine> machine_;     // null: paused
    std::shared_ptr<vm::link::Link> link_;     // while paused: the host's end, closed if lost
    std::vector<ContextImage> cold_contexts_;  // while paused without the host's end
    bool gone_ = false;
    bool changing_ = false;
    bool watching_ = false;
    std::size_t leases_ = 0;
    CallersDefault callers_default_ = CallersDefault::no;
    std::uint64_t note_revision_ = 0;
    bool note_pending_ = false;
    std::vector<ContextPointer> contexts_;
    kernel_proxy::GuestEventHandlers guest_handlers_;
    std::string default_context_id_;
    bool creating_default_ = false;
    WallTime started_at_;
    WallTime ends_at_;
    std::function<void(const Error&)> on_gone_;
    std::function<void()> on_idle_;
    Condition changed_;
};

}  // namespace cellblock::gateway
