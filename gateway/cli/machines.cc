#include "gateway/cli/machines.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/sandboxes/warm_up.h"
#include "vm/qemu/qemu_machine.h"

namespace cellblock::gateway::cli {

namespace asio = boost::asio;

namespace {

// Memory that runs out fast does so in seconds; a look takes microseconds.
constexpr std::chrono::seconds memory_look_interval{1};

// Told when the step changes: a template takes a minute, and log and clients should know why.
ProgressSink tell_steps(ProgressSink tell) {
    return [tell = std::move(tell), last = std::string()](const Progress& progress) mutable {
        if (progress.step == last) return;
        last = progress.step;
        log::info("template_progress", {{"step", progress.step}, {"detail", progress.detail}});
        tell(progress);
    };
}

// What a host needs for itself, whatever is configured.
std::uint64_t least_reserve_bytes(std::uint64_t total_bytes) {
    return std::max<std::uint64_t>(total_bytes / 20, limits::host_memory_reserve_min_bytes);
}

// Below this nothing new starts.
std::uint64_t reserve_bytes(const config::Config& config, std::uint64_t total_bytes) {
    if (config.host_memory_reserve_mib == 0) return least_reserve_bytes(total_bytes);
    return static_cast<std::uint64_t>(config.host_memory_reserve_mib) * limits::MiB;
}

std::uint64_t all_but(std::uint64_t reserve_bytes, std::uint64_t total_bytes) {
    return total_bytes - std::min(total_bytes, reserve_bytes);
}

std::uint64_t host_available_bytes() {
    const auto memory = read_host_memory();
    // What cannot be read does not stop anybody: the bound on what is promised stays.
    return memory ? memory->available_bytes : std::numeric_limits<std::uint64_t>::max();
}

vm::CapacityOptions capacity_options(const config::Config& config) {
    vm::CapacityOptions options;
    options.machines_max = static_cast<std::size_t>(config.sandboxes_max + config.pool_size);
    options.wait_max = std::chrono::seconds(config.start_wait_s);
    const auto memory = read_host_memory();
    if (!memory) {
        log::warning("host_memory_unknown", {{"error", memory.error().text()}});
        return options;
    }
    options.host_available_bytes = host_available_bytes;
    options.host_reserve_bytes = reserve_bytes(config, memory->total_bytes);
    options.memory_max_bytes = all_but(options.host_reserve_bytes, memory->total_bytes) / 100 *
                               static_cast<std::uint64_t>(config.memory_overcommit_percent);
    return options;
}

vm::PoolOptions pool_options(const config::Config& config) {
    vm::PoolOptions options;
    // A notebook's kernels are started at once and kept: no machine waits beside them.
    options.target = config.serves_notebook() ? 0 : static_cast<std::size_t>(config.pool_size);
    options.capacity = capacity_options(config);
    return options;
}

}  // namespace

Machines::Machines(asio::any_io_executor executor, const config::Config& config,
                   WorkerPool& workers, ProgressSink tell)
    : executor_(std::move(executor)),
      config_(config),
      workers_(workers),
      tell_(std::move(tell)),
      run_folder_(config.state_directory() / "run"),
      host_(vm::QemuHost::detect()),
      templates_(config.cache_directory(), host_, workers),
      pool_(executor_, starter(), warm_up, pool_options(config)) {}

asio::awaitable<Result<void>> Machines::start() {
    auto sort = [folder = run_folder_] { return vm::sort_left_machines(folder); };
    auto left = co_await workers_.run(std::move(sort));
    if (!left) co_return fail(left.error().in("looking at what an earlier gateway left"));
    left_ = std::move(left->machines);
    hold_machines_together();
    auto prepared = co_await prepare();
    if (!prepared && shows_broken_kvm(prepared.error())) {
        prepared = co_await give_up_kvm(prepared.error().text());
    }
    if (!prepared) co_return fail(prepared.error());
    co_return Result<void>();
}

// Whatever the guests do, the host's own part of the memory is not theirs: where there are cgroups,
// all machines together have a limit, and the one that runs into it ends instead of the host. The
// machines of all gateways on the host share it, so it does not depend on anybody's configuration.
void Machines::hold_machines_together() {
    const auto memory = read_host_memory();
    const std::uint64_t total = memory ? memory->total_bytes : 0;
    const std::uint64_t bytes = all_but(least_reserve_bytes(total), total);
    if (bytes == 0) return;
    const auto limited = vm::set_memory_max_of_all(host_->cgroups, bytes);
    if (!limited) log::warning("cgroup_without_limit", {{"error", limited.error().text()}});
}

void Machines::fill_pool() {
    // Control groups of machines that were ended: empty by now.
    vm::sweep_cgroups(host_->cgroups);
    pool_.start();
}

vm::FoundMachine Machines::found(vm::LeftMachine left) {
    vm::FoundMachine found;
    found.id = left.manifest.id;
    found.note = left.note;
    found.end = [this, id = found.id](std::string why) -> asio::awaitable<void> {
        auto free = [folder = run_folder_, id, why = std::move(why)]() -> Result<void> {
            (void)vm::free_left_machine(folder, id, why);
            return {};
        };
        (void)co_await workers_.run(std::move(free));
    };
    found.take_over = [this, left = std::move(left)] {
        return vm::QemuMachine::adopt(host_, run_folder_, workers_, left);
    };
    return found;
}

std::vector<vm::FoundMachine> Machines::take_found() {
    std::vector<vm::FoundMachine> all;
    for (vm::LeftMachine& left : left_) all.push_back(found(std::move(left)));
    left_.clear();
    return all;
}

asio::awaitable<Result<void>> Machines::prepare() {
    auto make = [config = &config_] { return make_guest_setup(*config); };
    auto setup = co_await workers_.run(std::move(make));
    if (!setup) co_return fail(std::move(setup).error());
    setup_ = std::move(*setup);
    log::info("accelerator", {{"kind", vm::to_string(setup_.accelerator.kind)},
                              {"isolation", vm::to_string(setup_.accelerator.tier)},
                              {"reason", setup_.accelerator.reason}});
    vm::TemplateRecipe recipe = std::move(setup_.recipe);
    auto opened = co_await templates_.open_or_build(std::move(recipe), tell_steps(tell_));
    if (!opened) co_return fail(opened.error().in("opening the template"));
    template_ = std::move(*opened);
    log::info("template", {{"key", vm::short_key(template_->key())},
                           {"image", template_->manifest().image_name}});
    co_return Result<void>();
}

vm::MachineRestorer Machines::restorer() {
    return [this](vm::RestoreRequest request) {
        return vm::QemuMachine::restore(host_, template_->clone_source(), run_folder_, workers_,
                                        std::move(request));
    };
}

bool Machines::shows_broken_kvm(const Error& error) const {
    if (setup_.accelerator.kind != vm::AcceleratorKind::kvm || config_.accelerator != "auto") {
        return false;
    }
    // No word from the guest in time, or a machine that ended: not a full disk or a missing file.
    return error.code == ErrorCode::timeout || error.code == ErrorCode::sandbox_gone ||
           error.code == ErrorCode::connection_lost;
}

asio::awaitable<Result<void>> Machines::give_up_kvm(std::string why) {
    log::warning("kvm_broken", {{"why", why}, {"next", "emulation (TCG), until the host reboots"}});
    auto record = [folder = config_.cache_directory(), why = std::move(why)] {
        vm::record_broken_kvm(folder, "it could not run a guest: " + why);
        return Result<void>();
    };
    const auto recorded = co_await workers_.run(std::move(record));
    if (!recorded) co_return fail(recorded.error());
    co_return co_await prepare();
}

void Machines::change_to_emulation(std::string why) {
    if (std::exchange(changing_, true)) return;
    spawn_logged(executor_, change(std::move(why)), "change to emulation", nullptr);
}

asio::awaitable<void> Machines::change(std::string why) {
    const auto prepared = co_await give_up_kvm(std::move(why));
    changing_ = false;
    if (!prepared) {
        log::error("emulation_not_ready", {{"error", prepared.error().text()}});
        co_return;  // the next start finds KVM broken again, and tries this again
    }
    pool_.set_starter(starter());
}

vm::MachineStarter Machines::starter() {
    return [this] { return start_machine(); };
}

asio::awaitable<Result<std::unique_ptr<vm::Machine>>> Machines::start_machine() {
    if (changing_) {
        co_return fail(ErrorCode::unavailable,
                       "KVM does not work on this host; the template for emulation is being made",
                       "try again in a minute");
    }
    auto machine =
        co_await vm::QemuMachine::clone(host_, template_->clone_source(), run_folder_, workers_);
    if (!machine) {
        if (shows_broken_kvm(machine.error())) change_to_emulation(machine.error().text());
        co_return fail(machine.error());
    }
    if ((*machine)->info().accelerator == vm::AcceleratorKind::kvm) {
        (*machine)->on_exit([weak = std::weak_ptr(self_)](const vm::ExitInfo& exit) {
            const auto self = weak.lock();
            if (!self || exit.reason != vm::ExitReason::accelerator_error) return;
            if ((*self)->config_.accelerator == "auto") (*self)->change_to_emulation(exit.text);
        });
    }
    co_return std::move(*machine);
}

asio::awaitable<void> Machines::stop() {
    co_await pool_.stop();
}

asio::awaitable<void> Machines::watch_memory() {
    asio::steady_timer timer(executor_);
    while (true) {
        const auto memory = read_host_memory();
        if (memory) {
            const std::uint64_t reserve = reserve_bytes(config_, memory->total_bytes);
            tell(memory_watch_.look(*memory, reserve), *memory);
        }
        timer.expires_after(memory_look_interval);
        const auto [ec] = co_await timer.async_wait(as_tuple_awaitable);
        if (ec) co_return;
    }
}

void Machines::tell(vm::MemoryNews news, const HostMemory& memory) const {
    if (news == vm::MemoryNews::none) return;
    const std::uint64_t available_mib = memory.available_bytes / limits::MiB;
    const double pressure_percent = memory.pressure_percent.value_or(0);
    if (news == vm::MemoryNews::over) {
        log::info("host_memory_eased",
                  {{"available_mib", available_mib}, {"pressure_percent", pressure_percent}});
        return;
    }
    log::warning("host_memory_short",
                 {{"available_mib", available_mib},
                  {"pressure_percent", pressure_percent},
                  {"reserve_mib", reserve_bytes(config_, memory.total_bytes) / limits::MiB},
                  {"promised_mib", pool_.status().memory_bytes / limits::MiB},
                  {"advice",
                   "pause or delete sandboxes, or lower memory_overcommit_percent: below "
                   "the reserve nothing new starts"}});
}

void Machines::refresh_metrics(metrics::Registry& registry) const {
    const vm::PoolStatus status = pool_.status();
    const auto machines = [&registry](const char* state, std::size_t count) {
        registry.gauge("cellblock_machines", "microVMs by what they are for.", {{"state", state}})
            .Set(static_cast<double>(count));
    };
    machines("warm", status.warm);
    machines("starting", status.starting);
    machines("taken", status.taken);
    const auto takes = [&registry](const char* source, std::uint64_t count) {
        registry
            .gauge("cellblock_pool_takes", "Machines handed out since the start, by source.",
                   {{"source", source}})
            .Set(static_cast<double>(count));
    };
    takes("warm", status.hits);
    takes("clone", status.misses);
    const auto count = [&registry](const char* name, const char* help, auto value) {
        registry.gauge(name, help).Set(static_cast<double>(value));
    };
    count("cellblock_pool_start_failures", "Machines that failed to start, since start.",
          status.start_failures);
    count("cellblock_pool_refused", "Starts that found no room, since start.", status.refused);
    count("cellblock_pool_waiting", "Starts that wait for room.", status.waiting);
    count("cellblock_memory_promised_bytes", "Memory that machines may come to use.",
          status.memory_bytes);
    count("cellblock_memory_promised_max_bytes", "Memory that may be promised to machines.",
          status.memory_max_bytes);
    count("cellblock_host_memory_short", "1 while memory is short on this host, as the log tells.",
          memory_watch_.is_short() ? 1 : 0);
    const auto memory = read_host_memory();
    if (!memory) return;
    count("cellblock_host_memory_available_bytes", "Memory that this host can still give.",
          memory->available_bytes);
    if (memory->pressure_percent) {
        count("cellblock_host_memory_pressure_percent",
              "Share of the last ten seconds in which something waited for memory.",
              *memory->pressure_percent);
    }
}

Json Machines::describe() const {
    Json json = {{"accelerator", vm::to_string(setup_.accelerator.kind)},
                 {"accelerator_reason", setup_.accelerator.reason},
                 {"isolation", vm::to_string(setup_.accelerator.tier)}};
    if (template_) {
        json["template"] = vm::short_key(template_->key());
        json["image"] = template_->manifest().image_name;
    }
    const vm::PoolStatus status = pool_.status();
    json["pool"] = {{"target", status.target},
                    {"warm", status.warm},
                    {"starting", status.starting},
                    {"taken", status.taken},
                    {"hits", status.hits},
                    {"misses", status.misses},
                    {"waiting", status.waiting},
                    {"refused", status.refused},
                    {"machines_max", status.machines_max},
                    {"memory_promised_bytes", status.memory_bytes},
                    {"memory_promised_max_bytes", status.memory_max_bytes}};
    if (!status.last_failure.empty()) json["pool"]["last_failure"] = status.last_failure;
    return json;
}

}  // namespace cellblock::gateway::cli
