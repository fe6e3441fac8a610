#include "vm/pool/memory_watch.h"

#include <doctest/doctest.h>

#include "base/limits.h"

namespace cellblock::vm {
namespace {

constexpr std::uint64_t reserve = 512 * limits::MiB;

HostMemory memory_with(std::uint64_t available_mib,
                       std::optional<double> pressure_percent = std::nullopt) {
    HostMemory memory;
    memory.total_bytes = 8 * limits::GiB;
    memory.available_bytes = available_mib * limits::MiB;
    memory.pressure_percent = pressure_percent;
    return memory;
}

}  // namespace

TEST_CASE("short memory is told once, well before the reserve is reached") {
    MemoryWatch watch;
    CHECK(watch.look(memory_with(2000), reserve) == MemoryNews::none);
    CHECK_FALSE(watch.is_short());
    CHECK(watch.look(memory_with(1023), reserve) == MemoryNews::short_now);
    CHECK(watch.look(memory_with(600), reserve) == MemoryNews::none);
    CHECK(watch.is_short());
}

TEST_CASE("memory around the border is not told again and again") {
    MemoryWatch watch;
    CHECK(watch.look(memory_with(1023), reserve) == MemoryNews::short_now);
    CHECK(watch.look(memory_with(1025), reserve) == MemoryNews::none);
    CHECK(watch.look(memory_with(1023), reserve) == MemoryNews::none);
    CHECK(watch.look(memory_with(1281), reserve) == MemoryNews::over);
    CHECK_FALSE(watch.is_short());
    CHECK(watch.look(memory_with(1025), reserve) == MemoryNews::none);
}

TEST_CASE("tasks that wait for memory are told too, however much seems available") {
    MemoryWatch watch;
    CHECK(watch.look(memory_with(4000, 9.5), reserve) == MemoryNews::none);
    CHECK(watch.look(memory_with(4000, 10.5), reserve) == MemoryNews::short_now);
    CHECK(watch.look(memory_with(4000, 6.0), reserve) == MemoryNews::none);
    CHECK(watch.look(memory_with(4000, 4.0), reserve) == MemoryNews::over);
}

}  // namespace cellblock::vm
