#include "vm/pool/memory_watch.h"

namespace cellblock::vm {
namespace {

// In halves of the reserve.
constexpr std::uint64_t short_below_halves = 4;
constexpr std::uint64_t over_above_halves = 5;
// Share of the last ten seconds in which something waited for memory. systemd-oomd kills at 60 that
// last for 30 s (oomd.conf(5)): a host with 10 still has time to be helped.
constexpr double short_above_percent = 10;
constexpr double over_below_percent = 5;

}  // namespace

MemoryNews MemoryWatch::look(const HostMemory& memory, std::uint64_t reserve_bytes) {
    const std::uint64_t half = reserve_bytes / 2;
    const double pressure = memory.pressure_percent.value_or(0);
    if (!short_) {
        if (memory.available_bytes >= short_below_halves * half &&
            pressure <= short_above_percent) {
            return MemoryNews::none;
        }
        short_ = true;
        return MemoryNews::short_now;
    }
    if (memory.available_bytes <= over_above_halves * half || pressure >= over_below_percent) {
        return MemoryNews::none;
    }
    short_ = false;
    return MemoryNews::over;
}

}  // namespace cellblock::vm
