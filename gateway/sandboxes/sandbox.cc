#include "gateway/sandboxes/sandbox.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using kernel_proxy::Kernel;
using kernel_proxy::KernelSpec;
using kernel_proxy::Outcome;

namespace {

// The kernel that the template starts (vm/agent, prepare_template).
constexpr std::string_view kTemplateKernel = "default";

Result<std::string> kernel_name(const std::string& language) {
    if (language == "python") return "python3";
    return fail(ErrorCode::not_supported, "there is no kernel for the language '" + language + "'",
                "this sandbox's image has: python");
}

}  // namespace

Sandbox::Sandbox(asio::any_io_executor executor, std::string id, SandboxSpec spec,
                 std::unique_ptr<vm::Machine> machine)
    : executor_(executor),
      id_(std::move(id)),
      spec_(std::move(spec)),
      machine_(std::move(machine)),
      started_at_(std::chrono::system_clock::now()),
      ends_at_(started_at_ + spec_.timeout),
      changed_(executor) {}

Sandbox::Sandbox(asio::any_io_executor executor, std::string id, SandboxImage image,
                 WallTime started_at)
    : executor_(executor),
      id_(std::move(id)),
      spec_(std::move(image.spec)),
      link_(std::make_shared<vm::link::Link>(executor, vm::link::Role::host,
                                             vm::link::LinkOptions())),
      cold_contexts_(std::move(image.contexts)),
      started_at_(started_at),
      ends_at_(std::chrono::system_clock::now() + spec_.timeout),
      changed_(executor) {
    link_->close(Error(ErrorCode::sandbox_gone, "the sandbox is paused"));
}

Sandbox::~Sandbox() = default;

vm::ClaimRequest claim_for(const std::string& id, const SandboxSpec& spec,
                           ClaimEnvironment environment) {
    vm::ClaimRequest claim;
    claim.hostname = "cellblock-" + id.substr(0, 8);
    claim.memory_limit_bytes = spec.memory_limit_bytes;
    if (environment == ClaimEnvironment::set) claim.environment = spec.environment;
    return claim;
}

std::string_view to_string(SandboxState state) {
    switch (state) {
        case SandboxState::running:
            return "running";
        case SandboxState::paused:
            return "paused";
        case SandboxState::gone:
            return "gone";
    }
    return "unknown";
}

SandboxState Sandbox::state() const {
    if (gone_) return SandboxState::gone;
    return machine_ ? SandboxState::running : SandboxState::paused;
}

std::shared_ptr<Sandbox> Sandbox::lease() {
    ++leases_;
    return std::shared_ptr<Sandbox>(this, [self = shared_from_this()](Sandbox*) {
        --self->leases_;
        // A timeout that pauses counts from the last use.
        if (self->spec_.on_timeout == OnTimeout::pause) self->extend_timeout(self->spec_.timeout);
        self->changed_.notify_all();
    });
}

Result<void> Sandbox::open() {
    listen_to_guest();
    for (const vm::ClaimedKernel& kernel : machine_->claimed().kernels) {
        if (kernel.kernel_id != kTemplateKernel) continue;
        const auto context = add_context(ContextSpec(), kernel.kernel_id);
        default_context_id_ = context->id();
        context->kernel->adopt(kernel.pid);
    }
    if (contexts_.empty()) {
        return fail(ErrorCode::internal, "the template brought no running kernel",
                    "rebuild it: cellblock template rm, then cellblock template build");
    }
    note_down();
    start_watch();
    return {};
}

void Sandbox::start_watch() {
    if (std::exchange(watching_, true)) return;
    spawn_logged(executor_, watch_deadline(), "sandbox_deadline", shared_from_this());
}

void Sandbox::listen_to_guest() {
    const std::weak_ptr<Sandbox> weak = weak_from_this();
    guest_handlers_.on_kernel_died = [weak](const std::string& guest_id,
                                            const kernel_proxy::KernelDeath& death) {
        const auto self = weak.lock();
        if (!self) return;
        for (const ContextPointer& context : self->contexts_) {
            if (context->kernel->spec().guest_id == guest_id) context->kernel->on_died(death);
        }
    };
    machine_->on_stream([weak](vm::link::StreamPtr stream) {
        if (const auto self = weak.lock()) self->accept_stream(std::move(stream));
    });
    machine_->on_exit([weak, which = machine_.get()](const vm::ExitInfo& exit) {
        const auto self = weak.lock();
        if (!self || self->gone() || self->machine_.get() != which) return;  // paused, replaced
        const Error reason(ErrorCode::sandbox_gone, "the sandbox's microVM ended: " + exit.text,
                           "make a new sandbox; what was in this one is lost");
        self->close(reason);
        self->say_gone(reason);
    });
}

void Sandbox::accept_stream(vm::link::StreamPtr stream) {
    if (stream->kind() != vm::link::StreamKind::events) {
        stream->reset(Error(ErrorCode::not_supported, "the host offers no such stream"));
        return;
    }
    spawn_logged(executor_, kernel_proxy::read_guest_events(std::move(stream), guest_handlers_),
                 "guest_events", nullptr);
}

ContextPointer Sandbox::add_context(ContextSpec spec, std::string guest_id) {
    KernelSpec kernel;
    kernel.id = new_uuid();
    kernel.guest_id = guest_id.empty() ? kernel.id : std::move(guest_id);
    kernel.name = spec.kernel_name.empty() ? kernel_name(spec.language).value_or("python3")
                                           : std::move(spec.kernel_name);
    kernel.working_directory = std::move(spec.working_directory);
    kernel.environment = std::move(spec.environment);
    kernel.environment.insert(spec_.environment.begin(), spec_.environment.end());
    kernel.launch = std::move(spec.launch);
    return add_kernel(std::move(spec.language), std::move(kernel));
}

ContextPointer Sandbox::add_kernel(std::string language, KernelSpec kernel) {
    const std::weak_ptr<Sandbox> weak = weak_from_this();
    auto context = std::make_shared<Context>();
    context->language = std::move(language);
    context->kernel = std::make_shared<Kernel>(
        executor_, machine_->link(), std::move(kernel), [weak](const Error& error) {
            const auto self = weak.lock();
            if (!self) return;
            log::error("sandbox_unresponsive",
                       {{"sandbox_id", self->id_}, {"error", error.text()}});
            spawn_logged(
                self->executor_,
                self->kill(Error(ErrorCode::sandbox_gone,
                                 "the sandbox did not answer and was ended", "make a new sandbox")),
                "sandbox_kill", self);
        });
    context->kernel->on_place_changed([weak] {
        if (const auto self = weak.lock()) self->note_down();
    });
    context->kernel->on_shut_down([weak, id = context->id()] {
        const auto self = weak.lock();
        if (self) spawn_logged(self->executor_, self->let_go_of(id), "kernel_shut_down", self);
    });
    contexts_.push_back(context);
    return context;
}

// Of a kernel that a client shut down.
asio::awaitable<void> Sandbox::let_go_of(std::string context_id) {
    if (spec_.lifetime == Lifetime::of_its_kernel) {
        co_return co_await kill(Error(ErrorCode::sandbox_gone, "its kernel was shut down"));
    }
    const auto deleted = co_await delete_context(context_id);
    if (!deleted) {
        log::warning("kernel_stop_failed",
                     {{"sandbox_id", id_}, {"error", deleted.error().text()}});
    }
}

std::size_t Sandbox::executions() const {
    std::size_t count = 0;
    for (const ContextPointer& context : contexts_) count += context->kernel->queued();
    return count;
}

// --- contexts ----------------------------------------------------------------------------------

Result<ContextPointer> Sandbox::find_context(const std::string& id) const {
    for (const ContextPointer& context : contexts_) {
        if (context->id() == id) return context;
    }
    for (const ContextPointer& context : contexts_) {
        const auto& former = context->former_ids;
        if (std::find(former.begin(), former.end(), id) != former.end()) return context;
    }
    return fail(ErrorCode::not_found, "Context " + id + " not found");
}

asio::awaitable<Result<ContextPointer>> Sandbox::create_context(ContextSpec spec) {
    const auto self = shared_from_this();
    if (gone())
        co_return fail(ErrorCode::sandbox_gone, "the sandbox is gone", "make a new sandbox");
    if (spec.kernel_name.empty()) {
        CB_CO_TRY(kernel_name(spec.language));
    }
    if (contexts_.size() >= limits::contexts_per_sandbox_max) {
        co_return fail(ErrorCode::too_many,
                       "the sandbox has " + std::to_string(contexts_.size()) + " contexts already",
                       "delete one first");
    }
    const auto context = add_context(std::move(spec), {});
    const auto started = co_await context->kernel->start();
    if (!started) {
        std::erase(contexts_, context);
        co_return fail(started.error());
    }
    note_down();
    co_return context;
}

asio::awaitable<Result<ContextPointer>> Sandbox::default_context(std::string language) {
    const auto self = shared_from_this();
    while (creating_default_) co_await changed_.wait();
    for (const ContextPointer& context : contexts_) {
        if (context->id() == default_context_id_ && context->language == language)
            co_return context;
    }
    creating_default_ = true;
    ContextSpec spec;
    spec.language = std::move(language);
    auto created = co_await create_context(std::move(spec));
    creating_default_ = false;
    changed_.notify_all();
    if (created) {
        default_context_id_ = (*created)->id();
        note_down();
    }
    co_return created;
}

asio::awaitable<Result<void>> Sandbox::delete_context(const std::string& id) {
    const auto self = shared_from_this();
    CB_CO_TRY_ASSIGN(context, find_context(id));
    std::erase(contexts_, context);
    note_down();
    co_return co_await context->kernel->stop();
}

// --- deadline and end --------------------------------------------------------------------------

void Sandbox::set_timeout(std::chrono::seconds timeout) {
    ends_at_ = std::chrono::system_clock::now() + timeout;
    note_down_soon();
    changed_.notify_all();
}

void Sandbox::extend_timeout(std::chrono::seconds timeout) {
    const auto wanted = std::chrono::system_clock::now() + timeout;
    if (wanted > ends_at_) set_timeout(timeout);
}

asio::awaitable<void> Sandbox::watch_deadline() {
    while (!gone()) {
        if (!machine_) {
            co_await changed_.wait();
            continue;
        }
        const auto left = ends_at_ - std::chrono::system_clock::now();
        if (left <= left.zero() && spec_.on_timeout == OnTimeout::pause && on_idle_) {
            if (leases_ > 0 || changing_) {
                co_await changed_.wait();
                continue;
            }
            set_timeout(limits::pause_retry_interval);  // should pausing fail
            on_idle_();
            continue;
        }
        if (left <= left.zero()) {
            co_await kill(Error(ErrorCode::sandbox_gone, "the sandbox reached its timeout",
                                "give it a longer timeout, or extend it while you use it"));
            co_return;
        }
        const auto deadline = std::chrono::steady_clock::now() +
                              std::chrono::duration_cast<std::chrono::steady_clock::duration>(left);
        co_await changed_.wait_until(deadline);
    }
}

void Sandbox::close_contexts(Outcome outcome, const Error& reason) {
    for (const ContextPointer& context : std::exchange(contexts_, {})) {
        context->kernel->close(outcome, reason);
    }
}

void Sandbox::close(const Error& reason) {
    gone_ = true;
    close_contexts(Outcome::sandbox_gone, reason);
    if (link_) link_->close(reason);
    changed_.notify_all();
}

void Sandbox::say_gone(const Error& reason) {
    if (on_gone_) std::exchange(on_gone_, nullptr)(reason);
}

asio::awaitable<void> Sandbox::kill(Error reason) {
    const auto self = shared_from_this();
    if (!gone()) close(reason);
    say_gone(reason);  // before the wait: who asks meanwhile is told the reason
    if (machine_) co_await machine_->kill(reason.cause);
}

}  // namespace cellblock::gateway
