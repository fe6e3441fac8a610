// One folder per VM: its sockets, QEMU's messages, and a manifest that names the process, so that a
// later gateway can find it, check that it is still the same process, and adopt or end it.
//
//   <run root>/<id>/manifest.json   who runs here (written once the process is known)
//   <run root>/<id>/note            what its owner wants the next gateway to know (set_note)
//   <run root>/<id>/monitor.sock    QMP; listening end inherited by QEMU
//   <run root>/<id>/port.sock       the guest link; listening end inherited by QEMU
//   <run root>/<id>/qemu.log        QEMU's stderr, bounded by its file size limit
//
// The folder is 0700 and belongs to the gateway; nothing of it is visible in the jail. A folder is
// freed only after its process is confirmed gone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace cellblock::vm {

struct RunManifest {
    std::string id;
    std::string driver = "qemu";
    pid_t pid = -1;  // the VM's own process (inside the jail), as the host sees it
    std::uint64_t start_time_ticks = 0;  // of that process, from /proc
    std::string boot_id;                 // of the host
    std::string template_key;
    std::string accelerator;
    std::uint32_t uid = 0;
    std::uint64_t ram_bytes = 0;
    std::uint64_t ram_inode = 0;  // of the memfd that it maps, the template's
    std::int64_t created_at_ns = 0;

    RunManifest() = default;
};

Result<void> write_manifest(const std::filesystem::path& folder, const RunManifest& manifest);
Result<RunManifest> read_manifest(const std::filesystem::path& folder);

// Of the running host; never empty on Linux.
std::string host_boot_id();
// Clock ticks after boot at which a process started; not_found when there is none.
Result<std::uint64_t> process_start_time(pid_t pid);
// The manifest's process is still that process: same boot, same start time, and not a zombie.
bool is_running(const RunManifest& manifest);
// ... and what it runs is QEMU.
bool is_machine(const RunManifest& manifest);

// No fsync, as for the manifest. The old note or the new one.
Result<void> write_note(const std::filesystem::path& folder, std::string_view note);
Result<std::string> read_note(const std::filesystem::path& folder);

// A new run folder; the destructor removes it with all it holds, unless released.
class RunFolder {
  public:
    static Result<RunFolder> create(const std::filesystem::path& root, const std::string& id);
    // One that an earlier gateway made; removed by the destructor like one of our own.
    static Result<RunFolder> open(const std::filesystem::path& root, const std::string& id);
    static RunFolder none() { return {}; }
    RunFolder(RunFolder&& other) noexcept { *this = std::move(other); }
    RunFolder& operator=(RunFolder&&) noexcept;
    ~RunFolder() { remove(); }

    const std::filesystem::path& path() const { return path_; }
    const std::string& id() const { return id_; }
    // A short name for a file in the folder: Unix socket addresses end at 107 bytes, and a state
    // folder may be deep. Valid in this process while the object lives.
    std::string short_path(const std::string& file) const;
    Result<Fd> listen(const std::string& file) const;
    void remove();
    void release() { path_.clear(); }

  private:
    RunFolder() = default;
    std::string id_;
    std::filesystem::path path_;
    Fd directory_;
};

// SIGKILL by pidfd after checking that `pid` still has that start time; true once it is gone.
bool kill_process(pid_t pid, std::uint64_t start_time_ticks, std::chrono::milliseconds timeout);

}  // namespace cellblock::vm
