// What makes a cloned guest differ from its siblings, below user space: the kernel's random
// generator, the wall clock, the host name, the machine id. System calls only; needs root in a
// guest. Stateless.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace cellblock::vm::agent {

// Credits `entropy` (8 bits a byte) to the kernel's pool and makes its generator reseed at once.
// At least 64 bytes: two times what the generator's key holds.
Result<void> add_entropy(ByteView entropy);

// Sets the wall clock when it is off by more than `tolerance_ns`. How far it was off (guest minus
// host) comes back either way.
struct ClockStep {
    std::int64_t error_ns = 0;
    std::int64_t stepped_ns = 0;  // 0: it was right enough
};
Result<ClockStep> set_clock(std::int64_t wall_clock_ns, std::int64_t tolerance_ns);

// Moves the wall clock by `by_ns`, at once and without a gap (clock_adjtime(2), ADJ_SETOFFSET).
Result<void> shift_clock(std::int64_t by_ns);

// Also writes /etc/hostname and the line of /etc/hosts that lets sudo resolve it.
Result<void> set_hostname(const std::string& name);
bool is_valid_hostname(std::string_view name);

// A fresh random /etc/machine-id.
Result<void> renew_machine_id();

}  // namespace cellblock::vm::agent
