#include "base/host_memory.h"

#include <cstdlib>
#include <sstream>
#include <string>

#include "base/files.h"
#include "base/limits.h"

namespace cellblock {

namespace {

// "MemTotal:       24684012 kB"
std::optional<std::uint64_t> field_bytes(const std::string& meminfo, const std::string& name) {
    std::istringstream lines(meminfo);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(name + ":")) continue;
        std::istringstream rest(line.substr(name.size() + 1));
        std::uint64_t kib = 0;
        if (rest >> kib) return kib * limits::KiB;
    }
    return std::nullopt;
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0"
std::optional<double> some_avg10(const std::string& pressure) {
    const std::string before = "some avg10=";
    const auto at = pressure.find(before);
    if (at == std::string::npos) return std::nullopt;
    return std::strtod(pressure.c_str() + at + before.size(), nullptr);
}

}  // namespace

Result<HostMemory> read_host_memory(const std::filesystem::path& proc) {
    CB_TRY_ASSIGN(text, read_file(proc / "meminfo", 64 * limits::KiB));
    const auto total = field_bytes(text, "MemTotal");
    const auto available = field_bytes(text, "MemAvailable");
    if (!total || !available) {
        return fail(ErrorCode::io,
                    (proc / "meminfo").string() + " has no MemTotal or no MemAvailable");
    }
    HostMemory memory;
    memory.total_bytes = *total;
    memory.available_bytes = *available;
    const auto pressure = read_file(proc / "pressure/memory", 4 * limits::KiB);
    if (pressure) memory.pressure_percent = some_avg10(*pressure);
    return memory;
}

}  // namespace cellblock
