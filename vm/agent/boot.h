// What PID 1 does before it serves: the small named steps that make a guest out of a kernel and a
// root file system. /init has mounted most already; each step only does what is missing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vm/agent/cgroups.h"
#include "vm/agent/options.h"

namespace cellblock::vm::agent {

struct BootReport {
    struct Failure {
        std::string step;
        Error error;
    };
    // A guest whose step failed still serves `info`, so that the host can say why; claim refuses.
    std::vector<Failure> failures;
    std::optional<Cgroups> cgroups;

    BootReport() = default;
};

// Guest: all steps. Rootless: only the run folder.
BootReport boot(const Options& options);

}  // namespace cellblock::vm::agent
