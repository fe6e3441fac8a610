#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "base/host_memory.h"
#include "base/limits.h"
#include "base/process.h"
#include "gateway/cli/doctor.h"
#include "gateway/cli/http_client.h"
#include "vm/image/image.h"
#include "vm/qemu/accelerator.h"
#include "vm/qemu/jail.h"

namespace cellblock::gateway::cli {
namespace {

constexpr std::chrono::seconds command_timeout{10};

std::string in_gib(std::uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB",
                  static_cast<double>(bytes) / static_cast<double>(limits::GiB));
    return text;
}

// The deepest folder of `path` that exists.
std::filesystem::path existing_parent(std::filesystem::path path) {
    std::error_code ec;
    while (!std::filesystem::exists(path, ec) && path.has_parent_path() &&
           path != path.parent_path()) {
        path = path.parent_path();
    }
    return path;
}

// The packages of cmake/packages.txt's section [run].
std::vector<std::string> run_packages() {
    std::istringstream names(CELLBLOCK_RUN_PACKAGES);
    std::vector<std::string> all;
    for (std::string name; names >> name;) all.push_back(name);
    return all;
}

}  // namespace

std::string install_command(const std::vector<std::string>& packages) {
    std::string command = ::geteuid() == 0 ? "apt-get install" : "sudo apt-get install";
    for (const std::string& package : packages) command += " " + package;
    return command;
}

Check check_qemu() {
    const auto build = vm::qemu_build();
    if (build) return Check(CheckVerdict::good, "QEMU", *build);
    return Check(CheckVerdict::missing, "QEMU", build.error().cause,
                 install_command({"qemu-system-x86"}));
}

Check check_accelerator(const config::Config& config) {
    const auto wish = vm::accelerator_wish_from(config.accelerator);
    if (!wish) return Check(CheckVerdict::missing, "KVM", wish.error().text());
    if (!vm::qemu_build()) {
        return Check(CheckVerdict::note, "KVM", "not tested: QEMU is missing");
    }
    vm::AcceleratorChoice choice = vm::choose_accelerator(*wish, config.cache_directory());
    if (*wish == vm::AcceleratorWish::kvm) {
        choice = vm::choose_accelerator(vm::AcceleratorWish::automatic, config.cache_directory());
        if (choice.kind != vm::AcceleratorKind::kvm) {
            return Check(CheckVerdict::missing, "KVM", "was asked for, but: " + choice.reason,
                         "set accelerator to auto, or mend what is missing for KVM");
        }
    }
    if (choice.kind == vm::AcceleratorKind::kvm) {
        return Check(CheckVerdict::good, "KVM", "is used: " + choice.reason);
    }
    return Check(CheckVerdict::note, "KVM",
                 choice.reason + "; guests run on TCG: 10 to 20 times slower, reduced isolation");
}

Check check_jail() {
    const auto jail = vm::check_jail();
    if (jail) return Check(CheckVerdict::good, "Jail", "bubblewrap can jail QEMU here");
    return Check(CheckVerdict::missing, "Jail", jail.error().cause, jail.error().advice);
}

Check check_memory(const config::Config& config) {
    const auto memory = read_host_memory();
    if (!memory) return Check(CheckVerdict::note, "Memory", memory.error().cause);
    const std::uint64_t available = memory->available_bytes;
    // The template's base, one busy sandbox, and the pool's idle ones.
    const std::uint64_t pool = static_cast<std::uint64_t>(config.pool_size);
    const std::uint64_t wanted = limits::GiB + limits::GiB / 2 + pool * 200 * limits::MiB;
    const std::string finding =
        in_gib(available) + " of " + in_gib(memory->total_bytes) + " are available";
    if (available >= wanted) return Check(CheckVerdict::good, "Memory", finding);
    return Check(CheckVerdict::note, "Memory", finding + ", " + in_gib(wanted) + " are comfortable",
                 "close other programs, or set pool_size = 0");
}

Check check_disk(const config::Config& config) {
    // An image and a template of recipe science, with what their builds need beside them.
    constexpr std::uint64_t wanted = 6 * limits::GiB;
    const std::filesystem::path folder = existing_parent(config.cache_directory());
    const auto free = free_bytes(folder);
    if (!free) return Check(CheckVerdict::missing, "Disk", free.error().cause, free.error().advice);
    const std::string finding = in_gib(*free) + " are free in " + folder.string();
    if (*free >= wanted) return Check(CheckVerdict::good, "Disk", finding);
    return Check(CheckVerdict::note, "Disk",
                 finding + "; building image and template needs " + in_gib(wanted),
                 "free some space, or choose another folder with --cache-dir");
}

Check check_packages() {
    const std::vector<std::string> wanted = run_packages();
    std::vector<std::string> command = {"dpkg-query", "-W", "-f=${db:Status-Status} ${Package}\n"};
    command.insert(command.end(), wanted.begin(), wanted.end());
    const auto output = run_command(command, limits::MiB, command_timeout);
    if (!output) {
        return Check(CheckVerdict::note, "Packages",
                     "this is no Debian system, so they cannot be checked by name");
    }
    std::vector<std::string> missing;
    for (const std::string& package : wanted) {
        const std::string line = "installed " + package + "\n";
        if (("\n" + output->standard_output).find("\n" + line) == std::string::npos) {
            missing.push_back(package);
        }
    }
    if (missing.empty()) {
        return Check(CheckVerdict::good, "Packages",
                     "all " + std::to_string(wanted.size()) + " are installed");
    }
    std::string names;
    for (const std::string& package : missing) names += (names.empty() ? "" : ", ") + package;
    return Check(CheckVerdict::missing, "Packages", "not installed: " + names,
                 install_command(missing));
}

Check check_image(const config::Config& config) {
    const auto images = vm::list_images(config.cache_directory() / "images");
    if (!images) return Check(CheckVerdict::note, "Image", images.error().cause);
    if (images->empty()) {
        return Check(CheckVerdict::note, "Image", "no guest image has been built yet",
                     "cellblock image build");
    }
    std::string names;
    for (const vm::Image& image : *images) names += (names.empty() ? "" : ", ") + image.name();
    return Check(CheckVerdict::good, "Image", names);
}

Check check_gateway(const config::Config& config) {
    auto client = HttpClient::for_gateway(config);
    if (!client)
        return Check(CheckVerdict::note, "Gateway", "is not running: it has made no token");
    HttpCall call;
    call.path = "/health";
    const auto reply = client->call(call);
    if (reply && reply->status == 200) {
        return Check(CheckVerdict::good, "Gateway", "answers at " + client->url());
    }
    return Check(CheckVerdict::note, "Gateway", "does not answer at " + client->url(),
                 "cellblock serve");
}

}  // namespace cellblock::gateway::cli
