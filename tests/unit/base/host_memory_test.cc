#include "base/host_memory.h"

#include <doctest/doctest.h>

#include "tests/unit/temporary_folder.h"

namespace cellblock {

TEST_CASE("this host's memory is read") {
    const auto memory = read_host_memory();
    REQUIRE(memory.has_value());
    CHECK(memory->total_bytes > 100'000'000);
    CHECK(memory->available_bytes <= memory->total_bytes);
}

TEST_CASE("memory comes in bytes, its pressure in percent where the kernel tells it") {
    const TemporaryFolder proc;
    proc.write("meminfo", "MemTotal:       4096 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n");
    auto memory = read_host_memory(proc.path());
    REQUIRE(memory.has_value());
    CHECK(memory->total_bytes == 4'194'304);
    CHECK(memory->available_bytes == 1'048'576);
    CHECK_FALSE(memory->pressure_percent.has_value());
    proc.write("pressure/memory",
               "some avg10=12.50 avg60=1.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 "
               "avg300=0.00 total=0\n");
    memory = read_host_memory(proc.path());
    REQUIRE(memory.has_value());
    CHECK(memory->pressure_percent == 12.5);
}

TEST_CASE("a kernel that does not say how much there is, is an error that names the file") {
    const TemporaryFolder proc;
    proc.write("meminfo", "MemTotal: 4096 kB\n");
    const auto memory = read_host_memory(proc.path());
    REQUIRE_FALSE(memory.has_value());
    CHECK(memory.error().cause.find("meminfo") != std::string::npos);
}

}  // namespace cellblock
