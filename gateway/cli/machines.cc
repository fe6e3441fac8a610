#include "gateway/cli/machines.h"

#include "base/log.h"
#include "gateway/sandboxes/warm_up.h"
#include "vm/qemu/qemu_machine.h"
#include "vm/qemu/run_folder.h"

namespace cellblock::gateway::cli {

namespace asio = boost::asio;

namespace {

// A log line when the step changes: a template takes a minute, and the log should say why.
ProgressSink log_progress() {
    return [last = std::string()](const Progress& progress) mutable {
        if (progress.step == last) return;
        last = progress.step;
        log::info("template_progress", {{"step", progress.step}, {"detail", progress.detail}});
    };
}

}  // namespace

Machines::Machines(asio::any_io_executor executor, const config::Config& config,
                   WorkerPool& workers)
    : executor_(std::move(executor)),
      config_(config),
      workers_(workers),
      run_folder_(config.state_directory() / "run"),
      host_(vm::QemuHost::detect()),
      templates_(config.cache_directory(), host_, workers) {}

asio::awaitable<Result<void>> Machines::start() {
    auto sweep = [folder = run_folder_] { return vm::sweep_orphans(folder); };
    const auto swept = co_await workers_.run(std::move(sweep));
    if (!swept) co_return fail(swept.error().in("cleaning up after an earlier gateway"));
    auto prepare = [config = &config_] { return make_guest_setup(*config); };
    auto setup = co_await workers_.run(std::move(prepare));
    if (!setup) co_return fail(std::move(setup).error());
    setup_ = std::move(*setup);
    log::info("accelerator", {{"kind", vm::to_string(setup_.accelerator.kind)},
                              {"isolation", vm::to_string(setup_.accelerator.tier)},
                              {"reason", setup_.accelerator.reason}});
    vm::TemplateRecipe recipe = std::move(setup_.recipe);
    auto opened = co_await templates_.open_or_build(std::move(recipe), log_progress());
    if (!opened) co_return fail(opened.error().in("opening the template"));
    template_ = std::move(*opened);
    log::info("template", {{"key", vm::short_key(template_->key())},
                           {"image", template_->manifest().image_name}});

    vm::PoolOptions options;
    options.target = static_cast<std::size_t>(config_.pool_size);
    options.machines_max = static_cast<std::size_t>(config_.sandboxes_max + config_.pool_size);
    vm::MachineStarter starter = [this] {
        return vm::QemuMachine::clone(host_, template_->clone_source(), run_folder_, workers_);
    };
    pool_ = std::make_unique<vm::Pool>(executor_, std::move(starter), warm_up, options);
    pool_->start();
    co_return Result<void>();
}

vm::MachineRestorer Machines::restorer() {
    return [this](vm::RestoreRequest request) {
        return vm::QemuMachine::restore(host_, template_->clone_source(), run_folder_, workers_,
                                        std::move(request));
    };
}

asio::awaitable<void> Machines::stop() {
    if (pool_) co_await pool_->stop();
}

void Machines::refresh_metrics(metrics::Registry& registry) const {
    if (!pool_) return;
    const vm::PoolStatus status = pool_->status();
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
    registry.gauge("cellblock_pool_start_failures", "Machines that failed to start, since start.")
        .Set(static_cast<double>(status.start_failures));
}

Json Machines::describe() const {
    Json json = {{"accelerator", vm::to_string(setup_.accelerator.kind)},
                 {"accelerator_reason", setup_.accelerator.reason},
                 {"isolation", vm::to_string(setup_.accelerator.tier)}};
    if (template_) {
        json["template"] = vm::short_key(template_->key());
        json["image"] = template_->manifest().image_name;
    }
    if (pool_) {
        const vm::PoolStatus status = pool_->status();
        json["pool"] = {{"target", status.target},     {"warm", status.warm},
                        {"starting", status.starting}, {"taken", status.taken},
                        {"hits", status.hits},         {"misses", status.misses}};
        if (!status.last_failure.empty()) json["pool"]["last_failure"] = status.last_failure;
    }
    return json;
}

}  // namespace cellblock::gateway::cli
