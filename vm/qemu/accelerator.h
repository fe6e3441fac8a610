// KVM or TCG: which one really works here, and why.
//
// On some nested hosts /dev/kvm opens and every capability answers, but guest kernel code is then
// interpreted an instruction at a time (a hundred times slower than TCG), so what the device says
// is no proof. A tiny guest that counts to 20 million in kernel mode is: 0.3 s under TCG, less
// under KVM. Its verdict is kept for this boot of the host, this kernel and this QEMU. Blocking:
// for start-up, doctor and worker threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "vm/machine/machine.h"

namespace cellblock::vm {

enum class AcceleratorWish { automatic, kvm, tcg };
Result<AcceleratorWish> accelerator_wish_from(std::string_view name);  // "auto", "kvm", "tcg"

struct AcceleratorChoice {
    AcceleratorKind kind = AcceleratorKind::tcg;
    IsolationTier tier = IsolationTier::reduced;
    std::string reason;  // one plain sentence, for the log, doctor and the API

    AcceleratorChoice() = default;
    AcceleratorChoice(AcceleratorKind kind_, std::string reason_)
        : kind(kind_),
          tier(kind_ == AcceleratorKind::kvm ? IsolationTier::hardware : IsolationTier::reduced),
          reason(std::move(reason_)) {}
};

// What can be seen without starting anything.
struct AcceleratorFacts {
    bool kvm_device_exists = false;
    std::string kvm_open_error;  // empty: it opens for reading and writing
    bool cpu_has_virtualization = false;
    bool module_kvm_pvm = false;
    bool module_kvm_vendor = false;  // kvm_intel or kvm_amd

    AcceleratorFacts() = default;
};
AcceleratorFacts gather_accelerator_facts();

// The choice that the facts alone allow; nothing when only a probe can tell.
std::optional<AcceleratorChoice> choose_by_facts(const AcceleratorFacts& facts);

// Boots the probe guest under `kind`; true if it finished in time.
Result<bool> probe_accelerator(AcceleratorKind kind, std::chrono::milliseconds timeout);

// `cache_folder` keeps the verdict and is made if needed. Never fails: in doubt it is TCG.
AcceleratorChoice choose_accelerator(AcceleratorWish wish,
                                     const std::filesystem::path& cache_folder);
// Recorded when a guest showed that KVM is broken after all (the next choice is TCG).
void record_broken_kvm(const std::filesystem::path& cache_folder, std::string_view why);

// Version line and identity of the installed QEMU; not_found with advice when there is none.
Result<std::string> qemu_build();

// The probe's ELF file (x86-64, PVH entry): for tests.
std::string probe_guest_elf();

// The TSC rate in kHz, measured against CLOCK_MONOTONIC_RAW (50 ms). The first value measured is
// kept in `cache_folder` as long as new measurements agree to 200 ppm, so that noise makes no new
// template.
std::uint32_t host_tsc_khz(const std::filesystem::path& cache_folder);

}  // namespace cellblock::vm
