// Pausing, resuming, snapshots: what the SandboxManager does with sandboxes on disk.
#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/sandboxes/sandbox_manager.h"

namespace cellblock::gateway {

namespace asio = boost::asio;

asio::awaitable<Result<void>> SandboxManager::open(std::vector<vm::FoundMachine> found,
                                                   PrepareKernel prepare) {
    CB_CO_TRY(co_await snapshots_.open());
    CB_CO_TRY(co_await paused_.open());
    CB_CO_TRY(co_await remove_old());
    co_await adopt_found(std::move(found), std::move(prepare));
    for (const SavedSandboxPointer& saved : paused_.list()) {
        auto sandbox =
            std::make_shared<Sandbox>(executor_, saved->id(), saved->image, saved->started_at);
        enter(std::move(sandbox));
    }
    co_return Result<void>();
}

asio::awaitable<Result<void>> SandboxManager::remove_old() {
    CB_CO_TRY_ASSIGN(snapshots, co_await snapshots_.remove_older(options_.keep));
    CB_CO_TRY_ASSIGN(paused, co_await paused_.remove_older(options_.keep));
    if (snapshots + paused > 0) {
        log::info("saved_sandboxes_expired", {{"snapshots", snapshots}, {"paused", paused}});
    }
    co_return Result<void>();
}

// --- pause and resume ----------------------------------------------------------------------------

asio::awaitable<Result<void>> SandboxManager::save_paused(SandboxPointer sandbox,
                                                          const SandboxImage& image) {
    const std::string id = sandbox->id();
    CB_CO_TRY(co_await paused_.remove(id));  // of a resume that could not remove it
    SavedSandbox record;
    record.sandbox_id = id;
    record.parent_id = image.spec.snapshot_id;
    record.started_at = sandbox->started_at();
    record.image = image;
    CB_CO_TRY(co_await paused_.save(id, std::move(record)));
    co_return Result<void>();
}

asio::awaitable<Result<void>> SandboxManager::pause(SandboxPointer sandbox) {
    Sandbox::Save save = [this, sandbox](const SandboxImage& image) {
        return save_paused(sandbox, image);
    };
    auto paused = co_await sandbox->pause(std::move(save));
    // Deleted meanwhile: nothing of it stays.
    if (sandbox->gone()) (void)co_await paused_.remove(sandbox->id());
    update_gauges();
    co_return paused;
}

void SandboxManager::pause_soon(const std::string& id) {
    const auto at = sandboxes_.find(id);
    if (at == sandboxes_.end()) return;
    const auto work = [](SandboxManager* self, SandboxPointer sandbox) -> asio::awaitable<void> {
        const auto paused = co_await self->pause(sandbox);
        if (!paused) {
            log::warning("sandbox_not_paused",
                         {{"sandbox_id", sandbox->id()}, {"error", paused.error().text()}});
        }
    };
    spawn_logged(executor_, work(this, at->second), "sandbox_pause", at->second);
}

asio::awaitable<Result<std::unique_ptr<vm::Machine>>> SandboxManager::start_saved(
    SavedSandboxes& where, SavedSandboxPointer saved, std::shared_ptr<vm::link::Link> link,
    vm::RestoredAs restored_as, std::size_t memory_limit_bytes) {
    CB_CO_TRY_ASSIGN(state, co_await where.load(saved));
    co_return co_await start_state(std::move(state), std::move(link), restored_as,
                                   memory_limit_bytes);
}

asio::awaitable<Result<std::unique_ptr<vm::Machine>>> SandboxManager::start_state(
    vm::MachineStatePointer state, std::shared_ptr<vm::link::Link> link, vm::RestoredAs restored_as,
    std::size_t memory_limit_bytes) {
    vm::RestoreRequest request;
    request.state = std::move(state);
    request.link = std::move(link);
    request.restored_as = restored_as;
    vm::MachineStarter starter = [this, request] { return restore_(request); };
    co_return co_await pool_.start_other(std::move(starter), memory_limit_bytes);
}

StartFromState SandboxManager::starter_of(SavedSandboxes& where, SavedSandboxPointer saved,
                                          std::size_t memory_limit_bytes) {
    return [this, &where, saved, memory_limit_bytes](std::shared_ptr<vm::link::Link> link,
                                                     vm::RestoredAs restored_as) {
        return start_saved(where, saved, std::move(link), restored_as, memory_limit_bytes);
    };
}

asio::awaitable<Result<Resumed>> SandboxManager::resume(SandboxPointer sandbox,
                                                        std::chrono::seconds timeout) {
    if (sandbox->state() == SandboxState::running) co_return Resumed::no;
    const std::string id = sandbox->id();
    const SavedSandboxPointer saved = paused_.find(id);
    if (!saved) {
        // Another request resumes it, or has just done so.
        const StartFromState none =
            [](std::shared_ptr<vm::link::Link>,
               vm::RestoredAs) -> asio::awaitable<Result<std::unique_ptr<vm::Machine>>> {
            co_return fail(ErrorCode::internal, "a paused sandbox has no saved state");
        };
        CB_CO_TRY(co_await sandbox->resume(none));
        co_return Resumed::no;
    }
    CB_CO_TRY(
        co_await sandbox->resume(starter_of(paused_, saved, sandbox->spec().memory_limit_bytes)));
    sandbox->extend_timeout(timeout);
    // What it was is of no use any more; a crash before this line would have brought it back.
    if (paused_.find(id) == saved) {
        const auto removed = co_await paused_.remove(id);
        if (!removed) log::warning("saved_state_stays", {{"error", removed.error().text()}});
    }
    update_gauges();
    co_return Resumed::yes;
}

asio::awaitable<Result<SandboxPointer>> SandboxManager::awake(std::string id) {
    CB_CO_TRY_ASSIGN(sandbox, find(id));
    // A pause that is under way ends first, and is undone then: whoever asked in the middle of it
    // would wait for a guest that nobody resumes.
    co_await sandbox->wait_for_turn();
    CB_CO_TRY(co_await resume(sandbox, sandbox->spec().timeout));
    co_return sandbox->lease();
}

// --- snapshots -----------------------------------------------------------------------------------

Result<SavedSandboxPointer> SandboxManager::find_snapshot(const std::string& id_or_name) const {
    if (auto found = snapshots_.find(id_or_name)) return found;
    SavedSandboxPointer newest;
    for (const SavedSandboxPointer& snapshot : snapshots_.list()) {
        // Those without a name are not called "".
        if (!id_or_name.empty() && snapshot->name == id_or_name) newest = snapshot;
    }
    if (newest) return newest;
    return fail(ErrorCode::not_found, "snapshot \"" + id_or_name + "\" was not found",
                "GET /snapshots lists them");
}

asio::awaitable<Result<SavedSandboxPointer>> SandboxManager::snapshot(SandboxPointer sandbox,
                                                                      std::string name) {
    if (!name.empty() && (names_the_template(name) || snapshots_.find(name))) {
        co_return fail(ErrorCode::invalid_argument,
                       "a snapshot cannot have the name of a template or the id of another",
                       "choose another name");
    }
    CB_CO_TRY(co_await remove_old());
    if (snapshots_.list().size() >= limits::snapshots_max) {
        co_return fail(ErrorCode::too_many, "there are too many snapshots", "delete some");
    }
    SavedSandbox record;
    CB_CO_TRY_ASSIGN(image, co_await sandbox->capture());
    record.sandbox_id = sandbox->id();
    record.name = std::move(name);
    record.parent_id = image.spec.snapshot_id;
    record.started_at = sandbox->started_at();
    record.image = std::move(image);
    CB_CO_TRY_ASSIGN(saved, co_await snapshots_.save(new_short_id(), std::move(record)));
    sandbox->set_snapshot(saved->id());
    log::info("snapshot_made", {{"snapshot_id", saved->id()},
                                {"sandbox_id", sandbox->id()},
                                {"bytes", saved->saved.file.bytes}});
    co_return saved;
}

asio::awaitable<Result<void>> SandboxManager::remove_snapshot(std::string id_or_name) {
    CB_CO_TRY_ASSIGN(snapshot, find_snapshot(id_or_name));
    co_return co_await snapshots_.remove(snapshot->id());
}

asio::awaitable<Result<SandboxPointer>> SandboxManager::create_from(SavedSandboxPointer snapshot,
                                                                    SandboxSpec spec) {
    const std::string id = new_short_id();
    // What is in it needs the room that it had.
    spec.memory_limit_bytes =
        std::max(spec.memory_limit_bytes, snapshot->image.spec.memory_limit_bytes);
    auto machine = co_await start_saved(snapshots_, snapshot, nullptr, vm::RestoredAs::copy,
                                        spec.memory_limit_bytes);
    if (!machine) co_return fail(machine.error().in("starting a sandbox from a snapshot"));
    spec.snapshot_id = snapshot->id();
    // What the caller asks for comes on top of what the kernels have.
    vm::ClaimRequest claim = claim_for(id, spec, ClaimEnvironment::set);
    CB_CO_TRY(co_await (*machine)->claim(std::move(claim)));
    SandboxImage image = snapshot->image;
    for (const auto& [name, value] : image.spec.environment) {
        spec.environment.try_emplace(name, value);
    }
    for (ContextImage& context : image.contexts) {
        for (const auto& [name, value] : spec.environment) {
            context.kernel.spec.environment[name] = value;
        }
    }
    auto sandbox = std::make_shared<Sandbox>(executor_, id, std::move(spec), std::move(*machine));
    CB_CO_TRY(sandbox->open(image, ContextIds::fresh));
    enter(sandbox);
    created_counter_.Increment();
    co_return sandbox;
}

asio::awaitable<Result<void>> SandboxManager::restore(SandboxPointer sandbox,
                                                      SavedSandboxPointer snapshot) {
    SandboxImage image = snapshot->image;
    image.spec.snapshot_id = snapshot->id();
    // In the sandbox that it was made of, contexts are what they were; elsewhere they are copies.
    const ContextIds ids =
        snapshot->sandbox_id == sandbox->id() ? ContextIds::own : ContextIds::fresh;
    const std::size_t memory =
        std::max(sandbox->spec().memory_limit_bytes, snapshot->image.spec.memory_limit_bytes);
    StartFromState start = starter_of(snapshots_, snapshot, memory);
    CB_CO_TRY(co_await sandbox->restore(std::move(image), ids, std::move(start)));
    CB_CO_TRY(co_await paused_.remove(sandbox->id()));
    sandbox->extend_timeout(sandbox->spec().timeout);
    update_gauges();
    co_return Result<void>();
}

}  // namespace cellblock::gateway
