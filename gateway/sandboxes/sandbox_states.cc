// A sandbox that pauses, resumes, and becomes again what a snapshot was.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "gateway/sandboxes/sandbox_change.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using kernel_proxy::Outcome;

namespace {

tl::unexpected<Error> gone_error() {
    return fail(ErrorCode::sandbox_gone, "the sandbox is gone", "make a new sandbox");
}

}  // namespace

asio::awaitable<void> Sandbox::wait_for_turn() {
    while (changing_) co_await changed_.wait();
}

asio::awaitable<Result<void>> Sandbox::pause(Save save) {
    const auto self = shared_from_this();
    co_await wait_for_turn();
    if (gone()) co_return gone_error();
    if (!machine_) co_return fail(ErrorCode::conflict, "the sandbox is paused already");
    CB_CO_TRY(check_can_be_copied());
    const Change change(*this);
    co_await wait_settled();
    if (gone()) co_return gone_error();
    SandboxImage taken;
    auto while_stopped = [this, &taken] {
        taken = image();
        for (const ContextPointer& context : contexts_) context->kernel->freeze();
    };
    auto state =
        co_await machine_->capture(vm::AfterCapture::stay_stopped, std::move(while_stopped));
    Result<void> saved;
    if (state) {
        taken.machine = *state;
        saved = co_await save(taken);
    } else {
        saved = fail(state.error());
    }
    if (gone()) co_return gone_error();
    if (!saved) {
        for (const ContextPointer& context : contexts_) context->kernel->thaw();
        // A machine that cannot go on has ended, and says so itself.
        if (state) (void)co_await machine_->go_on();
        co_return fail(saved.error().in("pausing the sandbox"));
    }
    link_ = machine_->detach_link();
    const auto machine = std::exchange(machine_, nullptr);
    co_await machine->kill("the sandbox was paused");
    log::info("sandbox_paused", {{"sandbox_id", id_}});
    co_return Result<void>();
}

// A machine of the state alone, with a new link, made unlike every other of that state.
asio::awaitable<Result<std::unique_ptr<vm::Machine>>> Sandbox::start_claimed(StartFromState start) {
    CB_CO_TRY_ASSIGN(machine, co_await start(nullptr, vm::RestoredAs::copy));
    CB_CO_TRY(co_await machine->claim(claim_for(id_, spec_, ClaimEnvironment::leave)));
    co_return std::move(machine);
}

// The host's end does not fit the saved state any more: what waited for the guest ends here.
void Sandbox::forget_running(const Error& reason) {
    for (ContextImage& context : context_images()) {
        context.kernel.running = nullptr;
        cold_contexts_.push_back(std::move(context));
    }
    close_contexts(Outcome::internal, reason);
    link_->close(reason);
}

asio::awaitable<Result<void>> Sandbox::resume(StartFromState start) {
    const auto self = shared_from_this();
    co_await wait_for_turn();
    if (gone()) co_return gone_error();
    if (machine_) co_return Result<void>();
    const Change change(*this);
    const bool keeps_link = !link_->closed();
    const auto connections = link_->stats().connections;
    Result<std::unique_ptr<vm::Machine>> machine;
    if (keeps_link) {
        machine = co_await start(link_, vm::RestoredAs::same);
    } else {
        machine = co_await start_claimed(std::move(start));
    }
    if (gone()) {
        if (machine) co_await (*machine)->kill("its sandbox was deleted");
        co_return gone_error();
    }
    if (!machine) {
        const bool used = link_->closed() || link_->stats().connections != connections;
        if (keeps_link && used) forget_running(machine.error());
        co_return fail(machine.error().in("resuming the sandbox"));
    }
    machine_ = std::move(*machine);
    link_.reset();
    listen_to_guest();
    for (const ContextPointer& context : contexts_) context->kernel->thaw();
    add_contexts(std::exchange(cold_contexts_, {}), ContextIds::own);
    note_down();
    start_watch();
    log::info("sandbox_resumed", {{"sandbox_id", id_}});
    co_return Result<void>();
}

asio::awaitable<Result<void>> Sandbox::restore(SandboxImage image, ContextIds ids,
                                               StartFromState start) {
    const auto self = shared_from_this();
    co_await wait_for_turn();
    if (gone()) co_return gone_error();
    const Change change(*this);
    // What is in the image needs the room that it had.
    const std::size_t own_memory = spec_.memory_limit_bytes;
    spec_.memory_limit_bytes = std::max(own_memory, image.spec.memory_limit_bytes);
    // The old machine is given up only for one that works.
    auto machine = co_await start_claimed(std::move(start));
    if (gone()) {
        if (machine) co_await (*machine)->kill("its sandbox was deleted");
        co_return gone_error();
    }
    if (!machine) {
        spec_.memory_limit_bytes = own_memory;
        co_return fail(machine.error().in("restoring the sandbox"));
    }
    const Error reason(ErrorCode::cancelled, "the sandbox was restored to a snapshot");
    close_contexts(Outcome::restarted, reason);
    if (link_) link_->close(reason);
    link_.reset();
    cold_contexts_.clear();
    const auto old = std::exchange(machine_, std::move(*machine));
    spec_.snapshot_id = std::move(image.spec.snapshot_id);
    listen_to_guest();
    add_contexts(image.contexts, ids);
    note_down();
    if (old) co_await old->kill("its sandbox was restored to a snapshot");
    log::info("sandbox_restored", {{"sandbox_id", id_}, {"snapshot_id", spec_.snapshot_id}});
    co_return Result<void>();
}

}  // namespace cellblock::gateway
