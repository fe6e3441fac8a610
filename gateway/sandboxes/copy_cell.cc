// A cell that goes on in a copy of its sandbox, and a sandbox that takes such a copy's state over.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "gateway/sandboxes/sandbox_manager.h"
#include "vm/link/link.h"

namespace cellblock::gateway {

namespace asio = boost::asio;

namespace {

bool has_cell(const SandboxImage& image, const std::string& context_id) {
    for (const ContextImage& context : image.contexts) {
        if (context.kernel.spec.id == context_id) return context.kernel.running != nullptr;
    }
    return false;
}

// The copy's contexts under the ids that they have in the original.
void give_ids_back(std::vector<ContextImage>& contexts, const Sandbox& original) {
    for (ContextImage& context : contexts) {
        if (context.former_ids.empty()) continue;
        if (!original.find_context(context.former_ids.back())) continue;
        context.kernel.spec.id = std::move(context.former_ids.back());
        context.former_ids.pop_back();
    }
}

}  // namespace

asio::awaitable<Result<std::optional<MovedCell>>> SandboxManager::copy_cell(
    SandboxPointer parent, std::string execution_id, CopyLabel label,
    std::chrono::seconds timeout) {
    CB_CO_TRY_ASSIGN(image, co_await parent->capture());
    const ContextPointer origin = parent->context_running(execution_id);
    if (!origin || !has_cell(image, origin->id())) co_return std::nullopt;
    SandboxSpec spec = image.spec;
    spec.timeout = timeout;
    spec.on_timeout = OnTimeout::kill;
    spec.lifetime = Lifetime::of_its_own;
    spec.metadata[label.name] = std::move(label.value);
    CB_CO_TRY_ASSIGN(child, co_await copy_of(image, std::move(spec), execution_id));
    MovedCell moved;
    moved.sandbox = child;
    moved.context = child->context_running(execution_id);
    if (!moved.context) {
        // The link's image had no whole stream of that kernel (kernel_image.cc).
        (void)co_await remove(child->id());
        co_return fail(ErrorCode::unavailable, "the cell could not be copied at this moment",
                       "it goes on where it is");
    }
    moved.execution = moved.context->kernel->running();
    forked_counter_.Increment();
    co_return moved;
}

asio::awaitable<Result<void>> SandboxManager::adopt(SandboxPointer sandbox, SandboxPointer source) {
    if (sandbox == source) {
        co_return fail(ErrorCode::conflict, "a sandbox cannot take its own state over");
    }
    CB_CO_TRY_ASSIGN(image, co_await source->capture());
    give_ids_back(image.contexts, *sandbox);
    image.spec.snapshot_id = sandbox->spec().snapshot_id;
    const vm::MachineStatePointer state = image.machine;
    const std::size_t memory_limit_bytes =
        std::max(image.spec.memory_limit_bytes, sandbox->spec().memory_limit_bytes);
    StartFromState start =
        [this, state, memory_limit_bytes](
            std::shared_ptr<vm::link::Link> link,
            vm::RestoredAs restored_as) -> asio::awaitable<Result<std::unique_ptr<vm::Machine>>> {
        return start_state(state, std::move(link), restored_as, memory_limit_bytes);
    };
    CB_CO_TRY(co_await sandbox->restore(std::move(image), ContextIds::own, std::move(start)));
    CB_CO_TRY(co_await paused_.remove(sandbox->id()));
    sandbox->extend_timeout(sandbox->spec().timeout);
    update_gauges();
    log::info("sandbox_state_adopted",
              {{"sandbox_id", sandbox->id()}, {"source_id", source->id()}});
    const auto removed = co_await remove(source->id());
    if (!removed) log::info("adopted_sandbox_stays", {{"error", removed.error().text()}});
    co_return Result<void>();
}

}  // namespace cellblock::gateway
