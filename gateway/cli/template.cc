// `cellblock template build|ls|rm|prune`: guests that have booted once, from which sandboxes are
// cloned.
#include <cstdio>

#include "base/clock.h"
#include "base/worker_pool.h"
#include "gateway/cli/command.h"
#include "gateway/cli/guest_setup.h"
#include "gateway/cli/progress_bar.h"
#include "gateway/cli/run_task.h"
#include "vm/snapshot/template.h"

namespace cellblock::gateway::cli {
namespace {

using TemplatePointer = std::shared_ptr<const vm::Template>;

struct TemplateArguments {
    ConfigFlags flags;
    std::string key;
    std::size_t keep_count = 2;
};

// The store lives in the coroutine's frame: it ends before the loop and the workers that it uses.
boost::asio::awaitable<Result<TemplatePointer>> build_in(const config::Config& config,
                                                         vm::TemplateRecipe recipe,
                                                         ProgressSink progress,
                                                         WorkerPool& workers) {
    vm::TemplateStore store(config.cache_directory(), vm::QemuHost::detect(), workers);
    co_return co_await store.open_or_build(std::move(recipe), std::move(progress));
}

boost::asio::awaitable<Result<std::string>> remove_from(const config::Config& config,
                                                        std::string key, WorkerPool& workers) {
    vm::TemplateStore store(config.cache_directory(), vm::QemuHost::detect(), workers);
    co_return co_await store.remove(std::move(key));
}

boost::asio::awaitable<Result<std::vector<std::string>>> prune_in(const config::Config& config,
                                                                  std::size_t keep_count,
                                                                  WorkerPool& workers) {
    vm::TemplateStore store(config.cache_directory(), vm::QemuHost::detect(), workers);
    co_return co_await store.keep_last_used(keep_count);
}

int build(const TemplateArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) return report(config.error());
    auto setup = make_guest_setup(*config);
    if (!setup) return report(setup.error());
    Result<TemplatePointer> built = fail(ErrorCode::internal, "not built");
    {
        ProgressBar bar;
        bar.say("Accelerator: " + std::string(vm::to_string(setup->accelerator.kind)) + " (" +
                setup->accelerator.reason + ")");
        built = run_task<TemplatePointer>([&](WorkerPool& workers) {
            return build_in(*config, std::move(setup->recipe), bar.sink(), workers);
        });
    }
    if (!built) return report(built.error().in("building the template"));
    std::printf("%s  %s\n", vm::short_key((*built)->key()).c_str(),
                (*built)->manifest().image_name.c_str());
    return exit_success;
}

int list_templates(const TemplateArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) return report(config.error());
    WorkerPool workers;
    const vm::TemplateStore store(config->cache_directory(), vm::QemuHost::detect(), workers);
    const auto all = store.list();
    if (!all) return report(all.error());
    if (all->empty()) {
        std::printf("No templates yet: build one with cellblock template build.\n");
        return exit_success;
    }
    std::printf("%-12s  %-10s %-11s %9s  %s\n", "TEMPLATE", "IMAGE", "ACCELERATOR", "DISK_MIB",
                "CREATED");
    for (const vm::TemplateSummary& summary : *all) {
        const vm::TemplateManifest& manifest = summary.manifest;
        const WallTime created{std::chrono::duration_cast<WallTime::duration>(
            std::chrono::nanoseconds(manifest.created_at_ns))};
        std::printf("%-12s  %-10s %-11s %9llu  %s\n", vm::short_key(manifest.key).c_str(),
                    manifest.image_name.c_str(),
                    std::string(vm::to_string(manifest.hardware.accelerator)).c_str(),
                    static_cast<unsigned long long>(summary.disk_bytes >> 20),
                    iso8601(created).c_str());
    }
    return exit_success;
}

int remove(const TemplateArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) return report(config.error());
    const auto removed = run_task<std::string>(
        [&](WorkerPool& workers) { return remove_from(*config, arguments.key, workers); });
    if (!removed) return report(removed.error());
    std::printf("removed %s\n", removed->c_str());
    return exit_success;
}

int prune(const TemplateArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) return report(config.error());
    const auto removed = run_task<std::vector<std::string>>(
        [&](WorkerPool& workers) { return prune_in(*config, arguments.keep_count, workers); });
    if (!removed) return report(removed.error());
    if (removed->empty()) std::printf("nothing to remove\n");
    for (const std::string& key : *removed) std::printf("removed %s\n", key.c_str());
    return exit_success;
}

}  // namespace

void add_template(CLI::App& app, Run& run) {
    CLI::App* command = app.add_subcommand("template", "Build, list and remove templates.");
    command->require_subcommand(1);

    auto building = std::make_shared<TemplateArguments>();
    CLI::App* build_command = command->add_subcommand(
        "build", "Boot a guest once and keep it as the template. Takes a minute or two.");
    building->flags.add_to(*build_command,
                           {"image", "cache_dir", "accelerator", "template_memory_mib"});
    build_command->footer(
        "Serving builds a missing template too; this does it beforehand.\n"
        "Example:\n"
        "  cellblock template build --accelerator tcg");
    build_command->callback([building, &run] { run = [building] { return build(*building); }; });

    auto listing = std::make_shared<TemplateArguments>();
    CLI::App* list_command = command->add_subcommand("ls", "List the templates that are built.");
    listing->flags.add_to(*list_command, {"cache_dir"});
    list_command->callback(
        [listing, &run] { run = [listing] { return list_templates(*listing); }; });

    auto removing = std::make_shared<TemplateArguments>();
    CLI::App* remove_command = command->add_subcommand("rm", "Remove a template from the disk.");
    removing->flags.add_to(*remove_command, {"cache_dir"});
    remove_command
        ->add_option("template", removing->key, "Its name, or at least the first 6 digits.")
        ->required();
    remove_command->footer("Sandboxes that run on it are not disturbed.");
    remove_command->callback([removing, &run] { run = [removing] { return remove(*removing); }; });

    auto pruning = std::make_shared<TemplateArguments>();
    CLI::App* prune_command = command->add_subcommand(
        "prune", "Remove the templates that upgrades have left, some 500 MB each.");
    pruning->flags.add_to(*prune_command, {"cache_dir"});
    prune_command->add_option("--keep", pruning->keep_count, "How many of the last used to keep.")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000));
    prune_command->footer(
        "Running sandboxes are not disturbed. Paused ones and snapshots need the template that "
        "they\n"
        "came from: keep as many as you have upgraded since the oldest of them.");
    prune_command->callback([pruning, &run] { run = [pruning] { return prune(*pruning); }; });
}

}  // namespace cellblock::gateway::cli
