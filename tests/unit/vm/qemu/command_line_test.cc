#include "vm/qemu/command_line.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/vm/qemu/arguments.h"

using namespace cellblock::vm;

namespace {

GuestHardware hardware() {
    GuestHardware out;
    out.tsc_khz = 2100000;
    out.extra_kernel_arguments = "cellblock.disk_mib=2048";
    return out;
}

QemuDescriptors descriptors() {
    QemuDescriptors out;
    out.ram = 10;
    out.root = 11;
    out.kernel = 12;
    out.initrd = 13;
    out.monitor = 14;
    out.port = 15;
    return out;
}

std::string after(const std::vector<std::string>& arguments, const std::string& option) {
    const auto found = std::find(arguments.begin(), arguments.end(), option);
    return found == arguments.end() || found + 1 == arguments.end() ? "" : *(found + 1);
}

// Whatever makes a device: -M, -device, -m, -smp, -cpu and the port's and the disk's back ends.
std::vector<std::string> devices(const std::vector<std::string>& arguments) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
        for (const char* option :
             {"-M", "-device", "-m", "-smp", "-cpu", "-accel", "-drive", "-serial"}) {
            if (arguments[i] == option) out.push_back(arguments[i] + " " + arguments[i + 1]);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("a template and its clones have the same devices") {
    const auto boot = qemu_arguments(hardware(), descriptors(), QemuStart::boot, "a");
    const auto restore = qemu_arguments(hardware(), descriptors(), QemuStart::restore, "b");
    CHECK(devices(boot) == devices(restore));
    CHECK(devices(boot).size() >= 8);
}

TEST_CASE("a template shares its RAM with the descriptor, a clone copies on write and waits") {
    const auto boot = qemu_arguments(hardware(), descriptors(), QemuStart::boot, "a");
    const auto restore = qemu_arguments(hardware(), descriptors(), QemuStart::restore, "a");
    CHECK(after(boot, "-object").ends_with("mem-path=/proc/self/fd/10,share=on"));
    CHECK(after(restore, "-object").ends_with("mem-path=/proc/self/fd/10,share=off"));
    CHECK_FALSE(has(boot, "-incoming"));
    CHECK(after(restore, "-incoming") == "defer");
    CHECK(has(restore, "-S"));
    CHECK_FALSE(has(restore, "-kernel"));
    CHECK_FALSE(has(restore, "-initrd"));
}

TEST_CASE("every QEMU has its seccomp sandbox on and no file but by descriptor") {
    for (const QemuStart start : {QemuStart::boot, QemuStart::restore}) {
        const auto arguments = qemu_arguments(hardware(), descriptors(), start, "a");
        const std::string sandbox = after(arguments, "-sandbox");
        for (const char* deny :
             {"obsolete=deny", "elevateprivileges=deny", "spawn=deny", "resourcecontrol=deny"}) {
            CHECK(sandbox.find(deny) != std::string::npos);
        }
        for (const std::string& argument : arguments) {
            const bool path = argument.starts_with("/") || argument.find("=/") != std::string::npos;
            const bool descriptor = argument.find("/proc/self/fd/") != std::string::npos ||
                                    argument.find("/dev/fdset/") != std::string::npos;
            CHECK_MESSAGE((!path || descriptor), argument);
        }
    }
}

TEST_CASE("the guest's clock rate is pinned under TCG only") {
    GuestHardware kvm = hardware();
    kvm.accelerator = AcceleratorKind::kvm;
    CHECK(guest_kernel_arguments(hardware()).find("tsc_early_khz=2100000") != std::string::npos);
    CHECK(guest_kernel_arguments(hardware()).ends_with("cellblock.disk_mib=2048"));
    CHECK(guest_kernel_arguments(kvm).find("tsc") == std::string::npos);
}

TEST_CASE("the fingerprint follows the hardware and not names or descriptor numbers") {
    const std::string base = hardware_fingerprint(hardware());
    CHECK(base == hardware_fingerprint(hardware()));
    GuestHardware other = hardware();
    other.ram_bytes *= 2;
    CHECK(base != hardware_fingerprint(other));
    other = hardware();
    other.accelerator = AcceleratorKind::kvm;
    CHECK(base != hardware_fingerprint(other));
    other = hardware();
    other.tsc_khz += 1;
    CHECK(base != hardware_fingerprint(other));
}

TEST_CASE("only descriptors that are used are inherited") {
    QemuDescriptors some = descriptors();
    some.kernel = -1;
    some.initrd = -1;
    CHECK(some.all() == std::vector<int>{10, 11, 14, 15});
}
