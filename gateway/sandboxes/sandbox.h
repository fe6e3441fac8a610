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
#include "kernel-proxy/kernel.h"
#include "vm/machine/machine.h"

namespace cellblock::gateway {

// A sandbox that was made for one kernel goes with it.
enum class Lifetime { of_its_own, of_its_kernel };

struct SandboxSpec {
    std::string template_id = "default";
    std::size_t memory_limit_bytes = limits::sandbox_memory_default_bytes;
    std::chrono::seconds timeout = limits::sandbox_timeout_default;
    std::map<std::string, std::string> environment;
    std::map<std::string, std::string> metadata;  // the caller's own labels
    Lifetime lifetime = Lifetime::of_its_own;
    SandboxSpec() = default;
};

// A kernel and how it is called outside. Language names as E2B writes them ("python").
struct Context {
    std::string language;
    std::shared_ptr<kernel_proxy::Kernel> kernel;

    const std::string& id() const { return kernel->spec().id; }
    const std::string& working_directory() const { return kernel->spec().working_directory; }
};
using ContextPointer = std::shared_ptr<Context>;

struct ContextSpec {
    std::string language = "python";
    std::string working_directory = "/home/user";
    ContextSpec() = default;
};

class Sandbox : public std::enable_shared_from_this<Sandbox> {
  public:
    Sandbox(boost::asio::any_io_executor executor, std::string id, SandboxSpec spec,
            std::unique_ptr<vm::Machine> machine);
    ~Sandbox();

    // Takes over the kernel that the template brought. Once, before anything else.
    Result<void> open();

    const std::string& id() const { return id_; }
    const SandboxSpec& spec() const { return spec_; }
    WallTime started_at() const { return started_at_; }
    WallTime ends_at() const { return ends_at_; }
    bool gone() const { return gone_; }
    // Running and queued, over all contexts.
    std::size_t executions() const;
    // Both stay valid while the sandbox object lives; once gone, their operations fail.
    vm::Machine& machine() { return *machine_; }
    vm::link::Link& link() { return machine_->link(); }

    // Contexts in the order in which they were made.
    const std::vector<ContextPointer>& contexts() const { return contexts_; }
    Result<ContextPointer> find_context(const std::string& id) const;
    boost::asio::awaitable<Result<ContextPointer>> create_context(ContextSpec spec);
    // The context for requests that name none: the template's, or a new one when that was deleted.
    boost::asio::awaitable<Result<ContextPointer>> default_context(std::string language);
    boost::asio::awaitable<Result<void>> delete_context(const std::string& id);

    // From now on: the sandbox ends `timeout` from now. extend_timeout never shortens.
    void set_timeout(std::chrono::seconds timeout);
    void extend_timeout(std::chrono::seconds timeout);

    // Ends everything: executions with sandbox_gone and this reason, then the microVM.
    boost::asio::awaitable<void> kill(Error reason);
    // Called once, when the sandbox has gone for whatever reason (its VM may end by itself).
    void on_gone(std::function<void(const Error&)> listener) { on_gone_ = std::move(listener); }

  private:
    ContextPointer add_context(ContextSpec spec, std::string guest_id);
    boost::asio::awaitable<void> let_go_of(std::string context_id);
    boost::asio::awaitable<void> watch_deadline();
    void listen_to_guest();
    void close(const Error& reason);
    void say_gone(const Error& reason);

    boost::asio::any_io_executor executor_;
    std::string id_;
    SandboxSpec spec_;
    std::unique_ptr<vm::Machine> machine_;
    bool gone_ = false;
    std::vector<ContextPointer> contexts_;
    std::string default_context_id_;
    bool creating_default_ = false;
    WallTime started_at_;
    WallTime ends_at_;
    std::function<void(const Error&)> on_gone_;
    Condition changed_;
};

}  // namespace cellblock::gateway
