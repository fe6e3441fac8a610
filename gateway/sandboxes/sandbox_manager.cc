#include "gateway/sandboxes/sandbox_manager.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

double seconds_since(steady_clock::time_point start) {
    return std::chrono::duration<double>(steady_clock::now() - start).count();
}

}  // namespace

SandboxManager::SandboxManager(asio::any_io_executor executor, vm::Pool& pool,
                               metrics::Registry& metrics)
    : executor_(executor),
      pool_(pool),
      running_gauge_(metrics.gauge("cellblock_sandboxes_running", "Sandboxes that run now")),
      created_counter_(metrics.counter("cellblock_sandboxes_created_total", "Sandboxes made")),
      failed_counter_(
          metrics.counter("cellblock_sandboxes_failed_total", "Sandboxes that could not be made")),
      start_seconds_(metrics.histogram("cellblock_sandbox_start_seconds",
                                       "Time from the request to a sandbox that serves",
                                       metrics::latency_bounds_s())),
      changed_(executor) {}

asio::awaitable<Result<SandboxPointer>> SandboxManager::create(SandboxSpec spec) {
    const auto started = steady_clock::now();
    const std::string id = new_short_id();
    vm::ClaimRequest claim;
    claim.hostname = "cellblock-" + id.substr(0, 8);
    claim.memory_limit_bytes = spec.memory_limit_bytes;
    claim.environment = spec.environment;
    auto machine = co_await pool_.take(std::move(claim));
    if (!machine) {
        failed_counter_.Increment();
        co_return fail(machine.error().in("starting a sandbox"));
    }
    auto sandbox = std::make_shared<Sandbox>(executor_, id, std::move(spec), std::move(*machine));
    if (auto opened = sandbox->open(); !opened) {
        failed_counter_.Increment();
        co_await sandbox->kill(opened.error());
        co_return fail(opened.error().in("starting a sandbox"));
    }
    sandboxes_[id] = sandbox;
    sandbox->on_gone([this, id](const Error& reason) { forget(id, reason); });
    created_counter_.Increment();
    running_gauge_.Set(static_cast<double>(sandboxes_.size()));
    start_seconds_.Observe(seconds_since(started));
    log::info("sandbox_created", {{"sandbox_id", id}, {"seconds", seconds_since(started)}});
    co_return sandbox;
}

Result<SandboxPointer> SandboxManager::find(const std::string& id) const {
    const auto at = sandboxes_.find(id);
    if (at != sandboxes_.end()) return at->second;
    for (const Gone& gone : gone_) {
        if (gone.id == id) {
            return fail(ErrorCode::sandbox_gone,
                        "sandbox " + id + " has ended: " + gone.reason.cause, gone.reason.advice);
        }
    }
    return fail(ErrorCode::not_found, "sandbox \"" + id + "\" was not found",
                "GET /sandboxes lists the running ones");
}

asio::awaitable<Result<SandboxPointer>> SandboxManager::resolve(std::optional<std::string> id) {
    if (id) co_return find(*id);
    auto sandbox = co_await default_sandbox();
    if (sandbox) (*sandbox)->extend_timeout(limits::default_sandbox_idle_timeout);
    co_return sandbox;
}

asio::awaitable<Result<SandboxPointer>> SandboxManager::default_sandbox() {
    while (creating_default_) co_await changed_.wait();
    const auto at = sandboxes_.find(default_id_);
    if (at != sandboxes_.end()) co_return at->second;
    creating_default_ = true;
    SandboxSpec spec;
    spec.timeout = limits::default_sandbox_idle_timeout;
    auto created = co_await create(std::move(spec));
    creating_default_ = false;
    if (created) default_id_ = (*created)->id();
    changed_.notify_all();
    co_return created;
}

std::vector<SandboxPointer> SandboxManager::list() const {
    std::vector<SandboxPointer> all;
    for (const auto& [id, sandbox] : sandboxes_) all.push_back(sandbox);
    std::sort(all.begin(), all.end(), [](const SandboxPointer& a, const SandboxPointer& b) {
        return a->started_at() < b->started_at();
    });
    return all;
}

asio::awaitable<Result<void>> SandboxManager::remove(const std::string& id) {
    const auto at = sandboxes_.find(id);
    if (at == sandboxes_.end()) {
        co_return fail(ErrorCode::not_found, "sandbox \"" + id + "\" was not found");
    }
    const SandboxPointer sandbox = at->second;
    const Error reason(ErrorCode::sandbox_gone, "the sandbox was deleted");
    forget(id, reason);  // from now on nobody finds it; its microVM ends below
    co_await sandbox->kill(reason);
    co_return Result<void>{};
}

asio::awaitable<void> SandboxManager::remove_all() {
    while (!sandboxes_.empty()) {
        // One after the other is quick enough: killing a VM takes milliseconds.
        const std::string id = sandboxes_.begin()->first;
        co_await remove(id);
    }
}

void SandboxManager::forget(const std::string& id, const Error& reason) {
    if (sandboxes_.erase(id) == 0) return;
    running_gauge_.Set(static_cast<double>(sandboxes_.size()));
    gone_.push_back(Gone{id, reason});
    if (gone_.size() > limits::gone_sandboxes_remembered_max) gone_.pop_front();
    log::info("sandbox_ended", {{"sandbox_id", id}, {"reason", reason.cause}});
}

}  // namespace cellblock::gateway
