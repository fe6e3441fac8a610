#include <sstream>

#include "base/files.h"
#include "base/limits.h"
#include "vm/qemu/qemu_machine.h"

namespace cellblock::vm {

Result<MemoryUsage> read_memory_usage(pid_t pid) {
    CB_TRY_ASSIGN(text, read_file("/proc/" + std::to_string(pid) + "/smaps_rollup",
                                  limits::manifest_max_bytes));
    MemoryUsage usage;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t kib = 0;
        if (!(words >> name >> kib)) continue;
        const std::uint64_t bytes = kib * limits::KiB;
        if (name == "Rss:") usage.resident_bytes = bytes;
        if (name == "Pss:") usage.proportional_bytes = bytes;
        if (name == "Private_Clean:" || name == "Private_Dirty:" || name == "Swap:") {
            usage.private_bytes += bytes;
        }
    }
    return usage;
}

}  // namespace cellblock::vm
