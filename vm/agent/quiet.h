// Makes an idle guest idle. A host has hundreds of them, and under emulation each waking of a guest
// costs the host half a millisecond: without this, an idle guest costs a hundredth of a core.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace cellblock::vm::agent {

// Housekeeping of the kernel's that a guest without swap and with one user has no need of is done
// seldom or never (Documentation/admin-guide/sysctl/vm.rst). `sys`: /proc/sys; tests give a folder.
// A knob that this kernel lacks is no error.
Result<void> quiet_kernel(const std::filesystem::path& sys);

// Stops the PIT (i8254), which ticks 36 times a second in the machine's emulator from reset on
// although its interrupt is masked: kernels since 6.13 do so themselves ("x86/i8253: Disable PIT
// timer 0 when not in use"). Leaves it alone where the kernel still keeps time by it. Needs root.
Result<void> stop_unused_pit(const std::filesystem::path& current_clock_event);

}  // namespace cellblock::vm::agent
