// How much memory this host has, has left, and how hard it is to get (Linux: /proc/meminfo,
// /proc/pressure/memory of the kernel's accounting/psi.rst). Blocking reads of kernel files:
// microseconds. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/error.h"

namespace cellblock {

struct HostMemory {
    std::uint64_t total_bytes = 0;
    std::uint64_t available_bytes = 0;  // without swapping
    // Share of the last ten seconds in which some task waited for memory, 0 to 100; none where the
    // kernel does not say.
    std::optional<double> pressure_percent;

    HostMemory() = default;
};

// `proc`: tests have a folder of their own.
Result<HostMemory> read_host_memory(const std::filesystem::path& proc = "/proc");

}  // namespace cellblock
