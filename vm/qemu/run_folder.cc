#include "vm/qemu/run_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/clock.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "vm/qemu/command_line.h"

namespace cellblock::vm {
namespace {

constexpr const char* manifest_name = "manifest.json";
constexpr const char* note_name = "note";

Result<std::string> proc_file(pid_t pid, const char* name) {
    return read_file("/proc/" + std::to_string(pid) + "/" + name, 64 * limits::KiB);
}

// Fields of /proc/PID/stat from the third on: the second, the name, may hold anything.
Result<std::vector<std::string>> stat_fields(pid_t pid) {
    CB_TRY_ASSIGN(text, proc_file(pid, "stat"));
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) return fail(ErrorCode::io, "/proc/PID/stat has no name");
    std::istringstream rest(text.substr(end + 1));
    std::vector<std::string> fields;
    for (std::string field; rest >> field;) fields.push_back(field);
    if (fields.size() < 20) return fail(ErrorCode::io, "/proc/PID/stat is short");
    return fields;
}

// No fsync: what is in a run folder means nothing after the host's next boot.
Result<void> replace_file(const std::filesystem::path& folder, const std::string& name,
                          std::string_view text) {
    const auto temporary = folder / (name + ".tmp");
    {
        CB_TRY_ASSIGN(fd, open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600));
        CB_TRY(write_all(fd.get(), text));
    }
    if (::rename(temporary.c_str(), (folder / name).c_str()) != 0) {
        return fail(error_from_errno(errno, "write " + (folder / name).string()));
    }
    return {};
}

}  // namespace

std::string host_boot_id() {
    auto text = read_file("/proc/sys/kernel/random/boot_id", 256);
    std::string id = text ? *text : "unknown";
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
}

Result<std::uint64_t> process_start_time(pid_t pid) {
    CB_TRY_ASSIGN(fields, stat_fields(pid));
    return std::strtoull(fields[19].c_str(), nullptr, 10);  // field 22
}

bool is_running(const RunManifest& manifest) {
    if (manifest.pid <= 0 || manifest.boot_id != host_boot_id()) return false;
    const auto fields = stat_fields(manifest.pid);
    return fields && (*fields)[0] != "Z" && (*fields)[0] != "X" &&
           std::strtoull((*fields)[19].c_str(), nullptr, 10) == manifest.start_time_ticks;
}

bool is_machine(const RunManifest& manifest) {
    if (!is_running(manifest)) return false;
    std::error_code error;
    const auto exe =
        std::filesystem::read_symlink("/proc/" + std::to_string(manifest.pid) + "/exe", error);
    // "(deleted)" after an upgrade of QEMU: what runs is still what was started.
    return !error && exe.filename().string().starts_with(qemu_binary);
}

Result<void> write_manifest(const std::filesystem::path& folder, const RunManifest& manifest) {
    const Json json = {{"version", 1},
                       {"id", manifest.id},
                       {"driver", manifest.driver},
                       {"pid", manifest.pid},
                       {"start_time_ticks", manifest.start_time_ticks},
                       {"boot_id", manifest.boot_id},
                       {"template_key", manifest.template_key},
                       {"accelerator", manifest.accelerator},
                       {"uid", manifest.uid},
                       {"ram_bytes", manifest.ram_bytes},
                       {"ram_inode", manifest.ram_inode},
                       {"created_at_ns", manifest.created_at_ns}};
    return replace_file(folder, manifest_name, dump_ascii(json) + "\n");
}

Result<void> write_note(const std::filesystem::path& folder, std::string_view note) {
    return replace_file(folder, note_name, note);
}

Result<std::string> read_note(const std::filesystem::path& folder) {
    return read_file(folder / note_name, limits::snapshot_description_max_bytes);
}

Result<RunManifest> read_manifest(const std::filesystem::path& folder) {
    CB_TRY_ASSIGN(text, read_file(folder / manifest_name, limits::manifest_max_bytes));
    CB_TRY_ASSIGN(json, parse_json(text, JsonLimits{limits::manifest_max_bytes}, "a run manifest"));
    if (!json.is_object()) return fail(ErrorCode::invalid_argument, "a run manifest is no object");
    RunManifest manifest;
    CB_TRY_ASSIGN(id, required_string(json, "id"));
    CB_TRY_ASSIGN(driver, required_string(json, "driver"));
    CB_TRY_ASSIGN(pid, required_integer(json, "pid"));
    CB_TRY_ASSIGN(start, required_integer(json, "start_time_ticks"));
    CB_TRY_ASSIGN(boot, required_string(json, "boot_id"));
    CB_TRY_ASSIGN(key, optional_string(json, "template_key"));
    CB_TRY_ASSIGN(accelerator, optional_string(json, "accelerator"));
    CB_TRY_ASSIGN(uid, optional_integer(json, "uid"));
    CB_TRY_ASSIGN(ram_bytes, optional_integer(json, "ram_bytes"));
    CB_TRY_ASSIGN(ram_inode, optional_integer(json, "ram_inode"));
    CB_TRY_ASSIGN(created, optional_integer(json, "created_at_ns"));
    if (!is_valid_id(id) || pid <= 1 || pid > INT32_MAX || start < 0) {
        return fail(ErrorCode::invalid_argument, "a run manifest names no process");
    }
    manifest.id = std::move(id);
    manifest.driver = std::move(driver);
    manifest.pid = static_cast<pid_t>(pid);
    manifest.start_time_ticks = static_cast<std::uint64_t>(start);
    manifest.boot_id = std::move(boot);
    manifest.template_key = key.value_or("");
    manifest.accelerator = accelerator.value_or("");
    manifest.uid = static_cast<std::uint32_t>(uid.value_or(0));
    manifest.ram_bytes = static_cast<std::uint64_t>(ram_bytes.value_or(0));
    manifest.ram_inode = static_cast<std::uint64_t>(ram_inode.value_or(0));
    manifest.created_at_ns = created.value_or(0);
    return manifest;
}

Result<RunFolder> RunFolder::create(const std::filesystem::path& root, const std::string& id) {
    if (!is_valid_id(id)) return fail(ErrorCode::internal, "a run folder needs a valid id");
    CB_TRY(make_directories(root, 0700));
    RunFolder folder;
    const auto path = root / id;
    if (::mkdir(path.c_str(), 0700) != 0) {
        return fail(error_from_errno(errno, "create the run folder " + path.string()));
    }
    folder.id_ = id;
    folder.path_ = path;  // from here on the destructor removes it
    CB_TRY_ASSIGN(directory, open_file(path, O_PATH | O_DIRECTORY));
    folder.directory_ = std::move(directory);
    return folder;
}

Result<RunFolder> RunFolder::open(const std::filesystem::path& root, const std::string& id) {
    if (!is_valid_id(id)) return fail(ErrorCode::internal, "a run folder needs a valid id");
    RunFolder folder;
    CB_TRY_ASSIGN(directory, open_file(root / id, O_PATH | O_DIRECTORY));
    folder.id_ = id;
    folder.path_ = root / id;
    folder.directory_ = std::move(directory);
    return folder;
}

RunFolder& RunFolder::operator=(RunFolder&& other) noexcept {
    if (this != &other) {
        remove();
        id_ = std::move(other.id_);
        path_ = std::exchange(other.path_, {});
        directory_ = std::move(other.directory_);
    }
    return *this;
}

std::string RunFolder::short_path(const std::string& file) const {
    return "/proc/self/fd/" + std::to_string(directory_.get()) + "/" + file;
}

Result<Fd> RunFolder::listen(const std::string& file) const {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return fail(error_from_errno(errno, "make a Unix socket"));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = short_path(file);
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.get(), 4) != 0) {
        return fail(error_from_errno(errno, "listen on " + (path_ / file).string()));
    }
    return socket;
}

void RunFolder::remove() {
    directory_.reset();
    if (path_.empty()) return;
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    if (error) log::warning("run_folder_not_removed", {{"path", path_.string()}});
    path_.clear();
}

bool kill_process(pid_t pid, std::uint64_t start_time_ticks, std::chrono::milliseconds timeout) {
    const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd) return errno == ESRCH;
    // The pidfd holds the process; only now is the check free of races.
    const auto start = process_start_time(pid);
    if (!start || *start != start_time_ticks) return true;
    if (::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) != 0) {
        return errno == ESRCH;
    }
    pollfd wait{pidfd.get(), POLLIN, 0};
    const Deadline deadline = std::chrono::steady_clock::now() + timeout;
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        const int ready = ::poll(&wait, 1, static_cast<int>(std::max<long>(left.count(), 0)));
        if (ready > 0) return true;
        if (ready == 0 || errno != EINTR) return false;
    }
}

}  // namespace cellblock::vm
