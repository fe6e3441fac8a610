// Machines that an earlier gateway left under a run root: found by their folders, proved to be what
// their manifests say, and then taken over (QemuMachine::adopt) or ended.
//
// A process is touched only when it is proved to be that machine: by the manifest's boot id, start
// time and program, or, where the manifest does not help, by QEMU's own arguments, which name the
// id. A pid alone proves nothing. The caller makes sure that no other gateway uses the root.
// Blocking, for start-up.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "vm/qemu/run_folder.h"

namespace cellblock::vm {

// One that runs and was somebody's: its owner left a note.
struct LeftMachine {
    RunManifest manifest;
    std::string note;

    LeftMachine() = default;
};

struct SweepReport {
    std::vector<std::string> killed;   // ids of VMs that were still running
    std::vector<std::string> removed;  // ids of folders that were freed
    std::vector<std::string> kept;     // still busy: not killable in time, left for the next sweep

    SweepReport() = default;
};

struct LeftBehind {
    std::vector<LeftMachine> machines;  // to be adopted
    SweepReport freed;                  // all others

    LeftBehind() = default;
};

// Frees what nobody can adopt, with a line in the log that says why.
Result<LeftBehind> sort_left_machines(const std::filesystem::path& root);
// Ends all of them and frees their folders.
Result<SweepReport> sweep_orphans(const std::filesystem::path& root);
// One whose adoption failed. True once nothing of it is left.
bool free_left_machine(const std::filesystem::path& root, const std::string& id,
                       const std::string& why);

}  // namespace cellblock::vm
