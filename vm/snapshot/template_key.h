// What a template depends on, and the key that is the hash of it. Another key: another template,
// built anew; a template is never restored into anything that differs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "vm/qemu/command_line.h"

namespace cellblock::vm {

// What a template is made of.
struct TemplateRecipe {
    std::string image_name;              // for people: "science"
    std::filesystem::path image_folder;  // vmlinuz, initramfs-base.img, root.erofs, image.json
    std::string guest_files;             // a cpio archive: the agent and the guest's Python
    GuestHardware hardware;
    std::string qemu_build;  // accelerator.h: qemu_build()

    TemplateRecipe() = default;
};

// Names and values, ordered: {"host_kernel": "6.1.0-28", ...}. Kept in the manifest, so that a
// mismatch can say what differs.
using KeyInputs = std::map<std::string, std::string>;

// Reads the image's files (checksums of the small ones). Blocking, some 50 ms.
Result<KeyInputs> template_key_inputs(const TemplateRecipe& recipe);

// 64 hex digits. Folders are named by the first 12.
std::string template_key(const KeyInputs& inputs);
inline std::string short_key(const std::string& key) {
    return key.substr(0, 12);
}

// "host_kernel, tsc_khz": the names whose values differ.
std::string key_difference(const KeyInputs& a, const KeyInputs& b);

}  // namespace cellblock::vm
