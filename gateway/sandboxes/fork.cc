// Forking: copies of a running sandbox, some at a time.
#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/sandboxes/sandbox_manager.h"
#include "vm/link/link.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using std::chrono::steady_clock;

// The children of one fork. Shared by the coroutines that make them, which outlive a caller that
// went away: what was begun becomes a sandbox like any other.
struct SandboxManager::Brood {
    SandboxImage image;
    std::chrono::seconds timeout;
    std::vector<Result<SandboxPointer>> children;
    std::size_t next = 0;
    std::size_t unfinished;
    Condition ended;

    Brood(asio::any_io_executor executor, SandboxImage image_, std::chrono::seconds timeout_,
          std::size_t count)
        : image(std::move(image_)),
          timeout(timeout_),
          children(count, fail(ErrorCode::internal, "the copy was not begun")),
          unfinished(count),
          ended(std::move(executor)) {}
};

asio::awaitable<Result<SandboxPointer>> SandboxManager::copy_of(const SandboxImage& image,
                                                                SandboxSpec spec,
                                                                std::string heard) {
    const std::string id = new_short_id();
    vm::RestoreRequest request;
    request.state = image.machine;
    request.link = std::make_shared<vm::link::Link>(executor_, vm::link::Role::host,
                                                    vm::link::LinkOptions(), image.link);
    vm::MachineStarter starter = [this, request] { return restore_(request); };
    CB_CO_TRY_ASSIGN(machine,
                     co_await pool_.start_other(std::move(starter), spec.memory_limit_bytes));
    CB_CO_TRY(co_await machine->claim(claim_for(id, spec, ClaimEnvironment::leave)));
    auto sandbox = std::make_shared<Sandbox>(executor_, id, std::move(spec), std::move(machine));
    if (auto opened = sandbox->open(image, ContextIds::fresh, heard); !opened) {
        co_await sandbox->kill(opened.error());
        co_return fail(opened.error());
    }
    enter(sandbox);
    co_return sandbox;
}

asio::awaitable<void> SandboxManager::raise(std::shared_ptr<Brood> brood) {
    while (brood->next < brood->children.size()) {
        const std::size_t index = brood->next++;
        SandboxSpec spec = brood->image.spec;
        spec.timeout = brood->timeout;
        auto child = co_await copy_of(brood->image, std::move(spec), "");
        if (!child) {
            log::warning("fork_failed", {{"error", child.error().text()}});
            child = fail(child.error().in("forking a sandbox"));
        }
        brood->children[index] = std::move(child);
        --brood->unfinished;
        brood->ended.notify_all();
    }
}

asio::awaitable<Result<std::vector<Result<SandboxPointer>>>> SandboxManager::fork(
    SandboxPointer parent, std::size_t count, std::chrono::seconds timeout) {
    const auto started = steady_clock::now();
    CB_CO_TRY_ASSIGN(image, co_await parent->capture());
    const std::size_t bytes = image.machine->pages.bytes().size();
    const auto brood = std::make_shared<Brood>(executor_, std::move(image), timeout, count);
    for (std::size_t i = 0; i < std::min(count, limits::fork_concurrent_max); ++i) {
        spawn_logged(executor_, raise(brood), "sandbox_fork", brood);
    }
    while (brood->unfinished > 0) co_await brood->ended.wait();
    const auto made =
        std::count_if(brood->children.begin(), brood->children.end(),
                      [](const Result<SandboxPointer>& child) { return child.has_value(); });
    forked_counter_.Increment(static_cast<double>(made));
    const std::chrono::duration<double> took = steady_clock::now() - started;
    log::info("sandbox_forked", {{"sandbox_id", parent->id()},
                                 {"children", made},
                                 {"bytes", bytes},
                                 {"seconds", took.count()}});
    co_return std::move(brood->children);
}

}  // namespace cellblock::gateway
