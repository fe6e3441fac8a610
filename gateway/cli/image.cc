// `cellblock image build|ls`: the guest images, which templates boot from.
#include <cstdio>

#include "gateway/cli/command.h"
#include "gateway/cli/guest_setup.h"
#include "gateway/cli/progress_bar.h"
#include "gateway/cli/run_task.h"
#include "vm/image/image.h"

namespace cellblock::gateway::cli {
namespace {

struct ImageArguments {
    ConfigFlags flags;
    std::string mirror;
};

int build(const ImageArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) return report(config.error());
    if (config->image != "science" && config->image != "base") {
        return report(Error(ErrorCode::invalid_argument,
                            "there is no image recipe \"" + config->image + "\"",
                            "the recipes are science and base"));
    }
    Result<vm::Image> image = fail(ErrorCode::internal, "not built");
    {
        ProgressBar bar;
        image = run_task<vm::Image>([&](WorkerPool&) {
            vm::ImageBuild build;
            build.recipe = config->image;
            build.images = images_folder(*config);
            build.cache = config->cache_directory();
            build.mirror = arguments.mirror;
            build.progress = bar.sink();
            build.notice = [&bar](const std::string& sentence) { bar.say(sentence); };
            return vm::build_image(std::move(build));
        });
    }
    if (!image) return report(image.error().in("building the guest image"));
    std::printf("%s  %s\n", image->name().c_str(), image->folder.c_str());
    return exit_success;
}

int list_images(const ImageArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) return report(config.error());
    const auto images = vm::list_images(images_folder(*config));
    if (!images) return report(images.error());
    if (images->empty()) {
        std::printf("No guest images yet: build one with cellblock image build.\n");
        return exit_success;
    }
    std::printf("%-24s %9s  %-28s %-8s %s\n", "IMAGE", "SIZE_MIB", "KERNEL", "PYTHON", "FOLDER");
    for (const vm::Image& image : *images) {
        std::printf("%-24s %9llu  %-28s %-8s %s\n", image.name().c_str(),
                    static_cast<unsigned long long>(image.bytes() >> 20),
                    image.kernel_release.c_str(), image.python_version.c_str(),
                    image.folder.c_str());
    }
    return exit_success;
}

}  // namespace

void add_image(CLI::App& app, Run& run) {
    CLI::App* command = app.add_subcommand("image", "Build and list guest images.");
    command->require_subcommand(1);

    auto building = std::make_shared<ImageArguments>();
    CLI::App* build_command = command->add_subcommand(
        "build", "Build the guest image, or find the one that exists. Takes minutes.");
    building->flags.add_to(*build_command, {"image", "cache_dir"});
    build_command->add_option("--mirror", building->mirror, "Debian mirror to install from.")
        ->type_name("URL");
    build_command->footer(
        "Examples:\n"
        "  cellblock image build\n"
        "  cellblock image build --image base");
    build_command->callback([building, &run] { run = [building] { return build(*building); }; });

    auto listing = std::make_shared<ImageArguments>();
    CLI::App* list_command = command->add_subcommand("ls", "List the images that are built.");
    listing->flags.add_to(*list_command, {"cache_dir"});
    list_command->callback([listing, &run] { run = [listing] { return list_images(*listing); }; });
}

}  // namespace cellblock::gateway::cli
