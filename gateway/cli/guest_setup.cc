#include "gateway/cli/guest_setup.h"

#include <array>
#include <optional>

#include "base/limits.h"
#include "base/log.h"

namespace cellblock::gateway::cli {
namespace {

std::filesystem::path own_folder() {
    std::error_code ec;
    return std::filesystem::read_symlink("/proc/self/exe", ec).parent_path();
}

}  // namespace

std::filesystem::path images_folder(const config::Config& config) {
    return config.cache_directory() / "images";
}

std::filesystem::path chat_folder(const config::Config& config) {
    return config.chat_dir.empty() ? own_folder() / "chat" : std::filesystem::path(config.chat_dir);
}

Result<vm::Image> find_image(const config::Config& config) {
    const std::filesystem::path images = images_folder(config);
    auto wanted = vm::find_image(vm::default_image_builder(), images, config.image);
    if (wanted) return wanted;
    // Not built from today's recipe. An older build of it serves too (what the gateway needs of a
    // guest comes with the template), and so does recipe base where it had to stand in.
    auto all = vm::list_images(images);
    if (!all) return fail(all.error());
    std::optional<vm::Image> newest;
    std::filesystem::file_time_type newest_time;
    for (vm::Image& image : *all) {
        if (image.recipe != config.image && image.instead_of != config.image) continue;
        std::error_code ec;
        const auto time = std::filesystem::last_write_time(image.folder / "image.json", ec);
        if (ec || (newest && time <= newest_time)) continue;
        newest = std::move(image);
        newest_time = time;
    }
    if (newest) {
        log::warning("image_outdated", {{"image", newest->name()},
                                        {"advice", "cellblock image build makes the current one"}});
        return std::move(*newest);
    }
    return fail(ErrorCode::not_found,
                "there is no guest image of recipe " + config.image + " in " + images.string(),
                "build it with: cellblock image build --image " + config.image);
}

Result<vm::GuestFiles> find_guest_files() {
    const std::filesystem::path folder = own_folder();
    std::error_code ec;
    vm::GuestFiles files;
    for (const auto& place : {folder / "cellblock-agent", folder / "vm/agent/cellblock-agent",
                              folder / "../lib/cellblock/cellblock-agent"}) {
        if (files.agent.empty() && std::filesystem::exists(place, ec)) files.agent = place;
    }
    if (files.agent.empty()) {
        return fail(ErrorCode::not_found,
                    "the guest's agent (cellblock-agent) is not beside " + folder.string(),
                    "build it with: ninja -C build cellblock-agent");
    }
    const std::filesystem::path source = CELLBLOCK_SOURCE_DIR;
    constexpr std::array<std::pair<const char*, const char*>, 3> packages = {
        {{"kernel-proxy/guest", "cellblock_kernel"},
         {"artifacts/guest", "cellblock_artifacts"},
         {"charts/guest", "cellblock_charts"}}};
    for (const auto& [place, package] : packages) {
        std::filesystem::path found = folder / "../lib/cellblock/python" / package;
        if (!std::filesystem::exists(found, ec)) found = source / place / package;
        if (!std::filesystem::exists(found, ec)) {
            return fail(ErrorCode::not_found,
                        "the guest's Python package " + std::string(package) + " is not at " +
                            found.string(),
                        "run cellblock from a complete checkout or installation");
        }
        files.python_packages.push_back(std::move(found));
    }
    return files;
}

Result<GuestSetup> make_guest_setup(const config::Config& config) {
    GuestSetup setup;
    CB_TRY_ASSIGN(build, vm::qemu_build());
    CB_TRY_ASSIGN(wish, vm::accelerator_wish_from(config.accelerator));
    CB_TRY_ASSIGN(image, find_image(config));
    CB_TRY_ASSIGN(files, find_guest_files());
    CB_TRY_ASSIGN(archive, vm::guest_files_archive(files));
    setup.accelerator = vm::choose_accelerator(wish, config.cache_directory());
    setup.recipe.image_name = image.recipe;
    setup.recipe.image_folder = image.folder;
    setup.recipe.guest_files = std::move(archive);
    setup.recipe.qemu_build = std::move(build);
    vm::GuestHardware& hardware = setup.recipe.hardware;
    hardware.accelerator = setup.accelerator.kind;
    hardware.ram_bytes = static_cast<std::uint64_t>(config.template_memory_mib) * limits::MiB;
    if (hardware.accelerator == vm::AcceleratorKind::tcg) {
        hardware.tsc_khz = vm::host_tsc_khz(config.cache_directory());
    }
    setup.image = std::move(image);
    return setup;
}

}  // namespace cellblock::gateway::cli
