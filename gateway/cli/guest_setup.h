// From the configuration to what the vm folder wants: which image, which files of ours in the
// guest, which accelerator. Blocking; for start-up and the CLI.
#pragma once

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "gateway/config/config.h"
#include "vm/image/guest_files.h"
#include "vm/image/image.h"
#include "vm/qemu/accelerator.h"
#include "vm/snapshot/template_key.h"

namespace cellblock::gateway::cli {

// <cache>/images
std::filesystem::path images_folder(const config::Config& config);

// Where the chat page is: `config.chat_dir`, else beside this program.
std::filesystem::path chat_folder(const config::Config& config);

// The image that `config.image` names: the one a build would find now, else the newest older build
// of that recipe (logged). not_found says how to build it.
Result<vm::Image> find_image(const config::Config& config);

// The agent beside this program (or in the build folder), and the guest's Python.
Result<vm::GuestFiles> find_guest_files();

// All that a template is made from. Chooses the accelerator (a probe may run: 2 s).
struct GuestSetup {
    vm::AcceleratorChoice accelerator;
    vm::Image image;
    vm::TemplateRecipe recipe;

    GuestSetup() = default;
};
Result<GuestSetup> make_guest_setup(const config::Config& config);

}  // namespace cellblock::gateway::cli
