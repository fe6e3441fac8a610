#include "vm/qemu/left_machines.h"

#include <utility>

#include "base/files.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/log.h"

namespace cellblock::vm {
namespace {

namespace fs = std::filesystem;

// QEMU processes (and their jails) whose arguments are "... -name <name> ...", by a walk over
// /proc.
std::vector<pid_t> processes_named(const std::string& name) {
    std::vector<pid_t> found;
    std::error_code error;
    const std::string wanted = std::string("-name\0", 6) + name + std::string("\0", 1);
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const std::string number = entry.path().filename().string();
        if (number.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto arguments = read_file(entry.path() / "cmdline", 64 * limits::KiB);
        if (arguments && arguments->find(wanted) != std::string::npos) {
            found.push_back(static_cast<pid_t>(std::stol(number)));
        }
    }
    return found;
}

Result<std::vector<fs::path>> folders_in(const fs::path& root) {
    std::vector<fs::path> folders;
    std::error_code error;
    if (!fs::exists(root, error)) return folders;
    for (const auto& entry : fs::directory_iterator(root, error)) {
        if (entry.is_directory() && is_valid_id(entry.path().filename().string())) {
            folders.push_back(entry.path());
        }
    }
    if (error) {
        return fail(ErrorCode::io, "could not list " + root.string() + ": " + error.message());
    }
    return folders;
}

// The error says why nobody can adopt it.
Result<LeftMachine> inspect(const fs::path& folder) {
    LeftMachine machine;
    CB_TRY_ASSIGN(manifest, read_manifest(folder));
    if (manifest.id != folder.filename().string()) {
        return fail(ErrorCode::conflict, "its manifest is another machine's");
    }
    if (manifest.boot_id != host_boot_id()) {
        return fail(ErrorCode::sandbox_gone, "the host was booted anew");
    }
    if (!is_running(manifest)) return fail(ErrorCode::sandbox_gone, "its process has ended");
    if (!is_machine(manifest)) {
        return fail(ErrorCode::conflict, "another program runs under its process id");
    }
    auto note = read_note(folder);
    if (!note) return fail(ErrorCode::not_found, "it was no sandbox's yet");
    machine.manifest = std::move(manifest);
    machine.note = std::move(*note);
    return machine;
}

void free_folder(const fs::path& folder, const std::string& why, SweepReport& report) {
    const std::string id = folder.filename().string();
    std::vector<std::pair<pid_t, std::uint64_t>> processes;
    const auto manifest = read_manifest(folder);
    if (manifest && manifest->id == id && is_machine(*manifest)) {
        processes.emplace_back(manifest->pid, manifest->start_time_ticks);
    } else {
        for (const pid_t pid : processes_named(id)) {
            if (const auto start = process_start_time(pid)) processes.emplace_back(pid, *start);
        }
    }
    bool gone = true;
    for (const auto& [pid, start] : processes) {
        if (!kill_process(pid, start, limits::machine_kill_timeout)) gone = false;
    }
    std::error_code error;
    if (gone) fs::remove_all(folder, error);
    if (!processes.empty() && gone) report.killed.push_back(id);
    (gone ? report.removed : report.kept).push_back(id);
    log::warning(gone ? "left_machine_freed" : "left_machine_not_killable",
                 {{"id", id}, {"processes", processes.size()}, {"why", why}});
}

}  // namespace

Result<LeftBehind> sort_left_machines(const fs::path& root) {
    LeftBehind left;
    CB_TRY_ASSIGN(folders, folders_in(root));
    for (const fs::path& folder : folders) {
        auto machine = inspect(folder);
        if (machine) {
            left.machines.push_back(std::move(*machine));
        } else {
            free_folder(folder, machine.error().cause, left.freed);
        }
    }
    return left;
}

Result<SweepReport> sweep_orphans(const fs::path& root) {
    SweepReport report;
    CB_TRY_ASSIGN(folders, folders_in(root));
    for (const fs::path& folder : folders) free_folder(folder, "nobody owns it", report);
    return report;
}

bool free_left_machine(const fs::path& root, const std::string& id, const std::string& why) {
    SweepReport report;
    std::error_code error;
    if (is_valid_id(id) && fs::is_directory(root / id, error)) {
        free_folder(root / id, why, report);
    }
    return report.kept.empty();
}

}  // namespace cellblock::vm
