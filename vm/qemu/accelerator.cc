#include "vm/qemu/accelerator.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/process.h"
#include "vm/qemu/command_line.h"
#include "vm/qemu/run_folder.h"

namespace cellblock::vm {
namespace {

namespace fs = std::filesystem;

constexpr const char* verdict_file = "kvm-verdict.json";
constexpr int probe_exit_code = (16 << 1) | 1;
// TCG needs 0.3 s on a quiet host, KVM less; more than this is no KVM worth having.
constexpr std::chrono::milliseconds probe_time{2000};

std::string verdict_key(const std::string& build) {
    utsname host{};
    ::uname(&host);
    return host_boot_id() + " " + host.release + " " + build;
}

AcceleratorChoice verdict(bool works, const std::string& why) {
    return works ? AcceleratorChoice(AcceleratorKind::kvm, "KVM works: " + why)
                 : AcceleratorChoice(AcceleratorKind::tcg, "KVM is not used: " + why);
}

std::optional<AcceleratorChoice> cached_verdict(const fs::path& cache_folder,
                                                const std::string& key) {
    const auto text = read_file(cache_folder / verdict_file, limits::manifest_max_bytes);
    if (!text) return std::nullopt;
    const auto json = parse_json(*text, JsonLimits{limits::manifest_max_bytes}, "a KVM verdict");
    if (!json || !json->is_object()) return std::nullopt;
    const auto for_key = optional_string(*json, "key");
    const auto works = optional_boolean(*json, "works");
    const auto why = optional_string(*json, "why");
    if (!for_key || for_key->value_or("") != key || !works || !works->has_value() || !why) {
        return std::nullopt;
    }
    return verdict(**works, why->value_or(""));
}

void keep_verdict(const fs::path& cache_folder, const std::string& key, bool works,
                  std::string_view why) {
    const Json json = {{"key", key}, {"works", works}, {"why", std::string(why)}};
    if (make_directories(cache_folder)) {
        (void)write_file_atomically(cache_folder / verdict_file, dump_ascii(json) + "\n");
    }
}

// Why a guest's QEMU could not open the device; empty: it can. As root each runs under a user id of
// its own with the device's group, so that the mode has to let that group in.
std::string kvm_open_error() {
    const auto device = open_file("/dev/kvm", O_RDWR);
    if (!device) return device.error().cause + "; add this user to the group kvm";
    struct stat status{};
    if (::fstat(device->get(), &status) != 0) return "/dev/kvm cannot be examined";
    const auto allows = [&](mode_t bits) { return (status.st_mode & bits) == bits; };
    if (::geteuid() != 0 || allows(S_IRGRP | S_IWGRP) || allows(S_IROTH | S_IWOTH)) return {};
    return "only root may open /dev/kvm, and guests do not run as root; "
           "chgrp kvm /dev/kvm && chmod 0660 /dev/kvm lets them";
}

}  // namespace

Result<AcceleratorWish> accelerator_wish_from(std::string_view name) {
    if (name == "auto") return AcceleratorWish::automatic;
    if (name == "kvm") return AcceleratorWish::kvm;
    if (name == "tcg") return AcceleratorWish::tcg;
    return fail(ErrorCode::invalid_argument,
                "there is no accelerator \"" + std::string(name) + "\"", "say auto, kvm or tcg");
}

AcceleratorFacts gather_accelerator_facts() {
    AcceleratorFacts facts;
    std::error_code error;
    facts.kvm_device_exists = fs::exists("/dev/kvm", error);
    if (facts.kvm_device_exists) facts.kvm_open_error = kvm_open_error();
    const auto cpuinfo = read_file("/proc/cpuinfo", 4 * limits::MiB);
    std::istringstream lines(cpuinfo ? *cpuinfo : "");
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("flags")) continue;
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            if (word == "vmx" || word == "svm") facts.cpu_has_virtualization = true;
        }
        break;
    }
    facts.module_kvm_pvm = fs::exists("/sys/module/kvm_pvm", error);
    facts.module_kvm_vendor =
        fs::exists("/sys/module/kvm_intel", error) || fs::exists("/sys/module/kvm_amd", error);
    return facts;
}

std::optional<AcceleratorChoice> choose_by_facts(const AcceleratorFacts& facts) {
    if (!facts.kvm_device_exists) return verdict(false, "this host has no /dev/kvm");
    if (!facts.cpu_has_virtualization) {
        return verdict(false,
                       "the CPU shows neither vmx nor svm, so /dev/kvm cannot run a guest at "
                       "full speed");
    }
    if (facts.module_kvm_pvm && !facts.module_kvm_vendor) {
        return verdict(false, "/dev/kvm belongs to kvm_pvm, which needs special guest kernels");
    }
    if (!facts.kvm_open_error.empty()) {
        return verdict(false, facts.kvm_open_error);
    }
    return std::nullopt;
}

Result<bool> probe_accelerator(AcceleratorKind kind, std::chrono::milliseconds timeout) {
    Fd elf(::memfd_create("cellblock-probe", 0));  // inherited by name, below
    if (!elf) return fail(error_from_errno(errno, "make a memfd"));
    CB_TRY(write_all(elf.get(), probe_guest_elf()));
    const fs::path file =
        fs::path("/proc") / std::to_string(::getpid()) / "fd" / std::to_string(elf.get());
    const bool kvm = kind == AcceleratorKind::kvm;
    const auto output =
        run_command({qemu_binary,
                     "-M",
                     "microvm,pic=on,pit=on,rtc=on",
                     "-accel",
                     kvm ? "kvm" : "tcg",
                     "-cpu",
                     kvm ? "host" : "max",
                     "-m",
                     "64",
                     "-smp",
                     "1",
                     "-nodefaults",
                     "-no-user-config",
                     "-display",
                     "none",
                     "-no-reboot",
                     "-kernel",
                     file.string(),
                     "-device",
                     "isa-debug-exit,iobase=0xf4,iosize=0x04",
                     "-sandbox",
                     "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"},
                    4096, timeout);
    if (!output) {
        if (output.error().code == ErrorCode::timeout) return false;
        return fail(output.error());
    }
    if (output->status.exit_code == probe_exit_code) return true;
    return fail(ErrorCode::io, "the probe guest ended with " + output->status.text() + ": " +
                                   output->standard_error.substr(0, 300));
}

AcceleratorChoice choose_accelerator(AcceleratorWish wish, const fs::path& cache_folder) {
    if (wish == AcceleratorWish::tcg) {
        return AcceleratorChoice(AcceleratorKind::tcg, "TCG was asked for");
    }
    if (wish == AcceleratorWish::kvm) {
        return AcceleratorChoice(AcceleratorKind::kvm, "KVM was asked for");
    }
    if (auto choice = choose_by_facts(gather_accelerator_facts())) return *choice;
    const auto build = qemu_build();
    if (!build) return verdict(false, build.error().text());
    const std::string key = verdict_key(*build);
    if (auto choice = cached_verdict(cache_folder, key)) return *choice;
    const auto probed = probe_accelerator(AcceleratorKind::kvm, probe_time);
    const bool works = probed && *probed;
    const std::string why = !probed ? probed.error().cause
                            : *probed
                                ? "a probe guest ran at full speed"
                                : "a probe guest did not finish in 2 s; guest code is not run by "
                                  "the CPU here";
    keep_verdict(cache_folder, key, works, why);
    return verdict(works, why);
}

void record_broken_kvm(const fs::path& cache_folder, std::string_view why) {
    const auto build = qemu_build();
    if (build) keep_verdict(cache_folder, verdict_key(*build), false, why);
}

Result<std::string> qemu_build() {
    const auto output =
        run_command({qemu_binary, "--version"}, 4096, std::chrono::milliseconds(10000));
    if (!output) {
        Error error = output.error().in("looking for QEMU");
        error.advice = "apt-get install qemu-system-x86";
        return fail(std::move(error));
    }
    const std::string& text = output->standard_output;
    if (!output->status.success() || !text.starts_with("QEMU")) {
        return fail(ErrorCode::io, "qemu-system-x86_64 --version failed: " + output->standard_error,
                    "reinstall it: apt-get install --reinstall qemu-system-x86");
    }
    return text.substr(0, text.find('\n'));
}

}  // namespace cellblock::vm
