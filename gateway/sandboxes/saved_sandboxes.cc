#include "gateway/sandboxes/saved_sandboxes.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace cellblock::gateway {

namespace asio = boost::asio;

asio::awaitable<Result<void>> SavedSandboxes::open() {
    auto read = [store = &store_] { return store->open(); };
    CB_CO_TRY_ASSIGN(found, co_await workers_.run(std::move(read)));
    for (vm::SavedState& saved : found) {
        const std::string id = saved.id;
        auto sandbox = saved_sandbox_from(std::move(saved));
        if (sandbox) {
            all_[id] = std::make_shared<const SavedSandbox>(std::move(*sandbox));
        } else {
            log::warning("saved_sandbox_unreadable",
                         {{"id", id}, {"error", sandbox.error().text()}});
        }
    }
    co_return Result<void>();
}

asio::awaitable<Result<SavedSandboxPointer>> SavedSandboxes::save(std::string id,
                                                                  SavedSandbox sandbox) {
    Json description = to_json(sandbox);
    if (description.dump().size() > limits::snapshot_description_max_bytes / 2) {
        co_return fail(ErrorCode::too_large, "the sandbox's environments are too large to be kept");
    }
    const vm::MachineStatePointer state = std::exchange(sandbox.image.machine, nullptr);
    sandbox.image.link = vm::link::LinkImage();
    for (ContextImage& context : sandbox.image.contexts) context.kernel.running = nullptr;
    auto write = [store = &store_, id, state, description = std::move(description)] {
        return store->save(id, *state, description);
    };
    CB_CO_TRY_ASSIGN(saved, co_await workers_.run(std::move(write)));
    sandbox.saved = std::move(saved);
    auto pointer = std::make_shared<const SavedSandbox>(std::move(sandbox));
    all_[id] = pointer;
    co_return pointer;
}

asio::awaitable<Result<vm::MachineStatePointer>> SavedSandboxes::load(SavedSandboxPointer sandbox) {
    auto read = [store = &store_, sandbox] { return store->load(sandbox->saved); };
    co_return co_await workers_.run(std::move(read));
}

asio::awaitable<Result<void>> SavedSandboxes::remove(std::string id) {
    if (all_.erase(id) == 0) co_return Result<void>();
    auto work = [store = &store_, id] { return store->remove(id); };
    co_return co_await workers_.run(std::move(work));
}

asio::awaitable<Result<std::size_t>> SavedSandboxes::remove_older(std::chrono::seconds age) {
    const WallTime limit = std::chrono::system_clock::now() - age;
    std::size_t removed = 0;
    for (const SavedSandboxPointer& sandbox : list()) {
        if (sandbox->created_at() >= limit) continue;
        CB_CO_TRY(co_await remove(sandbox->id()));
        ++removed;
    }
    co_return removed;
}

SavedSandboxPointer SavedSandboxes::find(const std::string& id) const {
    const auto found = all_.find(id);
    return found == all_.end() ? nullptr : found->second;
}

std::vector<SavedSandboxPointer> SavedSandboxes::list() const {
    std::vector<SavedSandboxPointer> all;
    for (const auto& [id, sandbox] : all_) all.push_back(sandbox);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a->saved.created_at_ns < b->saved.created_at_ns;
    });
    return all;
}

}  // namespace cellblock::gateway
