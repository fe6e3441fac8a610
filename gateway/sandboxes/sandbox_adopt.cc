// What a sandbox leaves for the gateway after this one, and a sandbox that goes on from it.
#include <algorithm>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/sandboxes/sandbox.h"
#include "vm/link/call.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using kernel_proxy::KernelState;

namespace {

// A timeout moves with every request: that much of it may be lost.
constexpr std::chrono::milliseconds note_delay{250};
// Nobody could extend a timeout while no gateway was there: this long at least.
constexpr std::chrono::seconds adopted_grace{60};
constexpr std::chrono::milliseconds last_words{500};

}  // namespace

Sandbox::Sandbox(asio::any_io_executor executor, const SandboxNote& note,
                 std::unique_ptr<vm::Machine> machine)
    : executor_(executor),
      id_(note.sandbox_id),
      spec_(note.spec),
      machine_(std::move(machine)),
      callers_default_(note.callers_default),
      note_revision_(note.revision),
      started_at_(note.started_at),
      ends_at_(std::max<WallTime>(note.ends_at, std::chrono::system_clock::now() + adopted_grace)),
      changed_(executor) {}

SandboxNote Sandbox::note() const {
    SandboxNote note;
    note.sandbox_id = id_;
    note.revision = note_revision_;
    note.started_at = started_at_;
    note.ends_at = ends_at_;
    note.callers_default = callers_default_;
    note.spec = spec_;
    note.contexts = context_images();
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
        note.contexts[i].kernel.channels = contexts_[i]->kernel->clients();
    }
    return note;
}

// A file of some kilobytes in a run folder, not synced: it means nothing after the host's end.
void Sandbox::note_down() {
    if (!machine_ || gone()) return;
    ++note_revision_;
    const auto written = machine_->set_note(to_text(note()));
    if (!written) {
        log::warning("sandbox_note_not_written",
                     {{"sandbox_id", id_}, {"error", written.error().text()}});
    }
}

void Sandbox::note_down_soon() {
    if (std::exchange(note_pending_, true)) return;
    spawn_logged(executor_, note_down_later(), "sandbox_note", shared_from_this());
}

asio::awaitable<void> Sandbox::note_down_later() {
    asio::steady_timer timer(executor_, note_delay);
    co_await timer.async_wait(as_tuple_awaitable);
    note_pending_ = false;
    note_down();
}

void Sandbox::set_snapshot(std::string id) {
    spec_.snapshot_id = std::move(id);
    note_down();
}

void Sandbox::set_callers_default() {
    callers_default_ = CallersDefault::yes;
    note_down();
}

void Sandbox::open(const SandboxNote& note) {
    listen_to_guest();
    add_contexts(note.contexts, ContextIds::own);
    for (const ContextPointer& context : contexts_) {
        if (context->kernel->state() != KernelState::dead) continue;
        const auto claimed =
            std::find_if(machine_->claimed().kernels.begin(), machine_->claimed().kernels.end(),
                         [&](const auto& kernel) {
                             return kernel.kernel_id == context->kernel->spec().guest_id;
                         });
        spawn_logged(executor_, replace_lost(context, claimed->pid), "kernel_replace",
                     shared_from_this());
    }
    // A context that was being made, or deleted, when the other gateway went.
    for (const vm::ClaimedKernel& kernel : machine_->claimed().kernels) {
        const bool known =
            std::any_of(note.contexts.begin(), note.contexts.end(), [&kernel](const auto& context) {
                return context.kernel.spec.guest_id == kernel.kernel_id;
            });
        if (known) continue;
        spawn_logged(executor_, stop_unknown(kernel.kernel_id), "kernel_stop", shared_from_this());
    }
    note_down();
    start_watch();
}

// What it said last is on its way; then its cell ends, and it gets a new process.
asio::awaitable<void> Sandbox::replace_lost(ContextPointer context, std::int64_t pid) {
    asio::steady_timer timer(executor_, last_words);
    co_await timer.async_wait(as_tuple_awaitable);
    kernel_proxy::KernelDeath death;
    death.pid = pid;
    death.how = "while no gateway was there";
    context->kernel->on_died(death);
}

asio::awaitable<void> Sandbox::stop_unknown(std::string guest_id) {
    Json params = {{"kernel_id", std::move(guest_id)}};
    const auto stopped = co_await vm::link::call(link(), "kernel.stop", std::move(params),
                                                 limits::kernel_stop_timeout);
    if (!stopped && !gone()) {
        log::warning("unknown_kernel_stays",
                     {{"sandbox_id", id_}, {"error", stopped.error().text()}});
    }
}

}  // namespace cellblock::gateway
