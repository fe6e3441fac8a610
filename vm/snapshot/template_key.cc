#include "vm/snapshot/template_key.h"

#include <sys/utsname.h>

#include <set>
#include <sstream>

#include "base/digest.h"
#include "base/files.h"
#include "vm/link/protocol.h"

namespace cellblock::vm {
namespace {

// Of what is on disk and of how RAM and device state relate: raised when an older template must not
// be used by this version.
constexpr const char* format_version = "1";

// Model and flags of the first CPU: under TCG the guest sees QEMU's CPU, but QEMU's own code and
// its fast paths follow the host's; under KVM the guest sees the host's.
std::string host_cpu() {
    const auto text = read_file("/proc/cpuinfo", 4 * limits::MiB);
    std::istringstream lines(text ? *text : "");
    std::string model;
    std::string flags;
    for (std::string line; std::getline(lines, line) && (model.empty() || flags.empty());) {
        if (line.starts_with("model name")) model = line.substr(line.find(':') + 1);
        if (line.starts_with("flags")) flags = line.substr(line.find(':') + 1);
    }
    return model + " /" + flags;
}

}  // namespace

Result<KeyInputs> template_key_inputs(const TemplateRecipe& recipe) {
    const auto& folder = recipe.image_folder;
    KeyInputs inputs;
    // The root image is large and written once under a name that is its own key: its description
    // (with its checksum) and its size stand for it.
    CB_TRY_ASSIGN(description, read_file(folder / "image.json", limits::MiB));
    std::error_code error;
    const auto root_bytes = std::filesystem::file_size(folder / "root.erofs", error);
    if (error)
        return fail(ErrorCode::not_found, "the image has no root.erofs: " + folder.string(),
                    "build it again: cellblock image build");
    CB_TRY_ASSIGN(kernel, sha256_file(folder / "vmlinuz"));
    CB_TRY_ASSIGN(initramfs, sha256_file(folder / "initramfs-base.img"));
    utsname host{};
    ::uname(&host);
    inputs["format"] = format_version;
    inputs["image"] = sha256_hex(description) + " " + std::to_string(root_bytes);
    inputs["guest_kernel"] = kernel;
    inputs["initramfs"] = initramfs;
    inputs["guest_files"] = sha256_hex(recipe.guest_files);
    inputs["kernel_arguments"] = guest_kernel_arguments(recipe.hardware);
    inputs["devices"] = sha256_hex(hardware_fingerprint(recipe.hardware));
    inputs["accelerator"] = to_string(recipe.hardware.accelerator);
    inputs["ram_bytes"] = std::to_string(recipe.hardware.ram_bytes);
    inputs["tsc_khz"] = std::to_string(recipe.hardware.tsc_khz);
    inputs["qemu_build"] = recipe.qemu_build;
    inputs["host_cpu"] = sha256_hex(host_cpu());
    inputs["host_kernel"] = host.release;
    inputs["link_version"] = std::to_string(link::kVersion);
    return inputs;
}

std::string template_key(const KeyInputs& inputs) {
    std::string text;
    for (const auto& [name, value] : inputs) {
        text += name + "\n" + std::to_string(value.size()) + "\n" + value + "\n";
    }
    return sha256_hex(text);
}

std::string key_difference(const KeyInputs& a, const KeyInputs& b) {
    std::set<std::string> names;
    for (const auto& [name, value] : a) {
        const auto other = b.find(name);
        if (other == b.end() || other->second != value) names.insert(name);
    }
    for (const auto& [name, value] : b) {
        if (!a.contains(name)) names.insert(name);
    }
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace cellblock::vm
