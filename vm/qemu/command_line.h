// What a guest consists of, and the QEMU arguments that make it: one struct for both the boot of a
// template and its clones, because QEMU does not notice on load that a device differs.
//
// Every file reaches QEMU as an inherited descriptor: the jail needs no path of ours, and a QEMU
// under another uid needs no rights on folders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "vm/machine/machine.h"

namespace cellblock::vm {

struct GuestHardware {
    AcceleratorKind accelerator = AcceleratorKind::tcg;
    std::uint64_t ram_bytes = limits::guest_ram_bytes;
    // The guest's TSC under TCG is the host's. Passed to the guest's kernel, which cannot calibrate
    // it reliably against an emulated timer on a busy host (it hangs). Unused under KVM.
    std::uint32_t tsc_khz = 0;
    std::string extra_kernel_arguments;  // "cellblock.disk_mib=2048"

    GuestHardware() = default;
};

// Descriptors that QEMU inherits, by number; -1 where not used.
struct QemuDescriptors {
    int ram = -1;      // memfd of ram_bytes
    int root = -1;     // the root image, read only
    int kernel = -1;   // boot only
    int initrd = -1;   // boot only
    int monitor = -1;  // listening Unix socket
    int port = -1;     // listening Unix socket: the guest link

    QemuDescriptors() = default;
    std::vector<int> all() const;
};

enum class QemuStart {
    boot,     // RAM shared with the descriptor: what the guest leaves there is a template
    restore,  // RAM copied on write; waits for the device state, does not run yet
};

std::vector<std::string> qemu_arguments(const GuestHardware& hardware,
                                        const QemuDescriptors& descriptors, QemuStart start,
                                        const std::string& name);

std::string guest_kernel_arguments(const GuestHardware& hardware);

// All arguments of boot and restore with the descriptors' numbers replaced: part of the template
// key.
std::string hardware_fingerprint(const GuestHardware& hardware);

inline constexpr const char* qemu_binary = "qemu-system-x86_64";

}  // namespace cellblock::vm
