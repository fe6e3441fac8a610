// The jail around every QEMU: QEMU is treated as hostile code, under KVM as under TCG.
//
// As root: setpriv drops to an unprivileged uid of this VM alone. Then, for everybody: prlimit, and
// bubblewrap with its own user, mount, pid, ipc, uts, net and cgroup namespaces, in which only /usr
// is visible, read only. QEMU gets what it works on as inherited descriptors, so no file and no
// socket of the gateway has a name in there. QEMU adds its own seccomp sandbox (command_line.cc).
// This file builds argument lists only; QemuProcess runs them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "vm/machine/machine.h"

namespace cellblock::vm {

struct JailOptions {
    // The uid (and gid) to drop to. Absent: we are unprivileged already and stay who we are.
    std::optional<std::uint32_t> uid;
    AcceleratorKind accelerator = AcceleratorKind::tcg;  // kvm: /dev/kvm is visible
    std::optional<std::uint32_t> kvm_gid;                // the group that may open /dev/kvm
    std::uint64_t address_space_bytes = 0;
    // bubblewrap writes the jailed process's id there, as JSON.
    int info_fd = -1;
    // A template's boot is of no use without its builder; a sandbox outlives its gateway.
    enum class Lifetime { own, with_parent };
    Lifetime lifetime = Lifetime::own;

    JailOptions() = default;
};

// `command`, jailed.
std::vector<std::string> jail_arguments(const JailOptions& options,
                                        const std::vector<std::string>& command);

// A uid (= gid) for one VM that no VM in `used` has, out of a range that systemd, Debian and
// container tools leave alone; in a container with fewer uids, out of what is mapped there. Absent:
// this process is not root and cannot change its uid.
std::optional<std::uint32_t> choose_vm_uid(const std::set<std::uint32_t>& used);

// Runs `true` in a jail, to find out whether this host allows it; the error says what to change.
// Blocking, 10 ms.
Result<void> check_jail();

}  // namespace cellblock::vm
