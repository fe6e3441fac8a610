#include "gateway/sandboxes/sandbox_manager.h"

#include <algorithm>
#include <array>
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

bool names_the_template(std::string_view name) {
    constexpr std::array<std::string_view, 5> names = {"", "default", "science", "base",
                                                       "code-interpreter-v1"};
    return std::ranges::find(names, name) != names.end();
}

SandboxManager::SandboxManager(asio::any_io_executor executor, SandboxManagerOptions options,
                               metrics::Registry& metrics)
    : executor_(executor),
      options_(std::move(options)),
      pool_(options_.pool),
      restore_(options_.restore),
      snapshots_(options_.workers, options_.folder / "snapshots"),
      paused_(options_.workers, options_.folder / "paused"),
      running_gauge_(metrics.gauge("cellblock_sandboxes_running", "Sandboxes that run now")),
      paused_gauge_(metrics.gauge("cellblock_sandboxes_paused", "Sandboxes that are on disk only")),
      created_counter_(metrics.counter("cellblock_sandboxes_created_total", "Sandboxes made")),
      forked_counter_(
          metrics.counter("cellblock_sandboxes_forked_total", "Sandboxes made by forking another")),
      adopted_counter_(metrics.counter("cellblock_sandboxes_adopted_total",
                                       "Sandboxes of an earlier gateway that go on")),
      failed_counter_(
          metrics.counter("cellblock_sandboxes_failed_total", "Sandboxes that could not be made")),
      start_seconds_(metrics.histogram("cellblock_sandbox_start_seconds",
                                       "Time from the request to a sandbox that serves",
                                       metrics::latency_bounds_s())),
      changed_(executor) {}

asio::awaitable<Result<SandboxPointer>> SandboxManager::create(SandboxSpec spec) {
    if (const auto snapshot = find_snapshot(spec.template_id)) {
        co_return co_await create_from(*snapshot, std::move(spec));
    }
    if (!names_the_template(spec.template_id)) {
        co_return fail(ErrorCode::not_found,
                       "there is no template or snapshot named \"" + spec.template_id + "\"",
                       "GET /snapshots lists the snapshots; the template is called default");
    }
    const auto started = steady_clock::now();
    const std::string id = new_short_id();
    vm::ClaimRequest claim = claim_for(id, spec, ClaimEnvironment::set);
    auto machine = co_await pool_.take(std::move(claim));
    if (!machine) {
        failed_counter_.Increment();
        Error error = machine.error().in("starting a sandbox");
        if (error.code == ErrorCode::timeout && error.advice.empty()) {
            error.advice = "the host is busy: try again in a moment, or start fewer at a time";
        }
        co_return fail(std::move(error));
    }
    auto sandbox = std::make_shared<Sandbox>(executor_, id, std::move(spec), std::move(*machine));
    if (auto opened = sandbox->open(); !opened) {
        failed_counter_.Increment();
        co_await sandbox->kill(opened.error());
        co_return fail(opened.error().in("starting a sandbox"));
    }
    enter(sandbox);
    created_counter_.Increment();
    start_seconds_.Observe(seconds_since(started));
    log::info("sandbox_created", {{"sandbox_id", id}, {"seconds", seconds_since(started)}});
    co_return sandbox;
}

void SandboxManager::enter(SandboxPointer sandbox) {
    const std::string id = sandbox->id();
    sandbox->on_gone([this, id](const Error& reason) { forget(id, reason); });
    sandbox->on_idle([this, id] { pause_soon(id); });
    sandboxes_[id] = std::move(sandbox);
    update_gauges();
}

void SandboxManager::update_gauges() {
    const auto paused = std::count_if(sandboxes_.begin(), sandboxes_.end(), [](const auto& entry) {
        return entry.second->state() == SandboxState::paused;
    });
    const auto all = static_cast<double>(sandboxes_.size());
    paused_gauge_.Set(static_cast<double>(paused));
    running_gauge_.Set(all - static_cast<double>(paused));
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
    if (id) co_return co_await awake(std::move(*id));
    CB_CO_TRY_ASSIGN(sandbox, co_await default_sandbox());
    sandbox->extend_timeout(limits::default_sandbox_idle_timeout);
    co_return co_await awake(sandbox->id());
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
    if (created) {
        default_id_ = (*created)->id();
        (*created)->set_callers_default();
    }
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
    co_await end(at->second, Error(ErrorCode::sandbox_gone, "the sandbox was deleted"));
    co_return Result<void>{};
}

asio::awaitable<void> SandboxManager::end(SandboxPointer sandbox, Error reason) {
    forget(sandbox->id(), reason);  // from now on nobody finds it; its microVM ends below
    co_await sandbox->kill(reason);
}

asio::awaitable<void> SandboxManager::remove_all() {
    while (!sandboxes_.empty()) {
        // One after the other is quick enough: killing a VM takes milliseconds.
        const SandboxPointer sandbox = sandboxes_.begin()->second;
        const bool running = sandbox->state() == SandboxState::running;
        if (running && sandbox->spec().on_timeout == OnTimeout::pause)
            (void)co_await pause(sandbox);
        if (sandbox->state() == SandboxState::paused) {
            sandboxes_.erase(sandbox->id());  // it stays on disk
        } else {
            Error reason(ErrorCode::sandbox_gone, "the gateway was stopped",
                         "start it again, and make a new sandbox");
            co_await end(sandbox, std::move(reason));
        }
    }
}

void SandboxManager::forget(const std::string& id, const Error& reason) {
    if (sandboxes_.erase(id) == 0) return;
    update_gauges();
    if (paused_.find(id)) {
        const auto work = [](SavedSandboxes* paused, std::string which) -> asio::awaitable<void> {
            (void)co_await paused->remove(std::move(which));
        };
        spawn_logged(executor_, work(&paused_, id), "paused_remove", nullptr);
    }
    gone_.push_back(Gone{id, reason});
    if (gone_.size() > limits::gone_sandboxes_remembered_max) gone_.pop_front();
    log::info("sandbox_ended", {{"sandbox_id", id}, {"reason", reason.cause}});
}

}  // namespace cellblock::gateway
