#include "vm/agent/cgroups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/files.h"
#include "base/limits.h"

namespace cellblock::vm::agent {
namespace {

Result<void> write_value(const std::filesystem::path& file, const std::string& value) {
    CB_TRY_ASSIGN(fd, open_file(file, O_WRONLY));
    const auto written = write_all(fd.get(), value);
    if (!written) return fail(written.error().in("writing " + value + " to " + file.string()));
    return {};
}

std::string read_text(const std::filesystem::path& file) {
    return read_file(file, 64 * limits::KiB).value_or("");
}

std::uint64_t parse_number(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);  // "max" stays 0
    return value;
}

std::uint64_t read_number(const std::filesystem::path& file) {
    return parse_number(read_text(file));
}

// A line "name value" of a flat keyed file such as memory.events.
std::uint64_t read_field(const std::filesystem::path& file, std::string_view name) {
    const std::string text = read_text(file);
    const std::string key = "\n" + std::string(name) + " ";
    const auto at = ("\n" + text).find(key);
    if (at == std::string::npos) return 0;
    return parse_number(std::string_view(text).substr(at + key.size() - 1));
}

MemoryUse read_memory(const std::filesystem::path& group) {
    MemoryUse use;
    use.used_bytes = read_number(group / "memory.current");
    use.peak_bytes = read_number(group / "memory.peak");
    use.limit_bytes = read_number(group / "memory.max");
    use.oom_kills = read_field(group / "memory.events", "oom_kill");
    return use;
}

Result<void> make_group(const std::filesystem::path& group) {
    if (::mkdir(group.c_str(), 0755) != 0 && errno != EEXIST) {
        return fail(error_from_errno(errno, "make the cgroup " + group.string()));
    }
    return {};
}

// Optional knobs: a kernel without them still limits memory.
void write_if_present(const std::filesystem::path& file, const std::string& value) {
    if (::access(file.c_str(), F_OK) == 0) (void)write_value(file, value);
}

}  // namespace

MemoryUse KernelGroup::memory() const {
    return read_memory(path_);
}

bool KernelGroup::populated() const {
    return read_field(path_ / "cgroup.events", "populated") != 0;
}

std::size_t KernelGroup::processes() const {
    const std::string text = read_text(procs());
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

Result<void> KernelGroup::kill() const {
    return write_value(path_ / "cgroup.kill", "1");
}

Result<void> KernelGroup::remove() const {
    if (::rmdir(path_.c_str()) == 0 || errno == ENOENT) return {};
    if (errno == EBUSY) {
        return fail(ErrorCode::unavailable, path_.string() + " still has processes");
    }
    return fail(error_from_errno(errno, "remove " + path_.string()));
}

Result<Cgroups> Cgroups::set_up(std::filesystem::path root) {
    Cgroups groups(std::move(root));
    CB_TRY(make_group(groups.root_ / "system"));
    CB_TRY(make_group(groups.root_ / "sandbox"));
    CB_TRY(write_value(groups.system_procs(), std::to_string(::getpid())));
    for (const auto& parent : {groups.root_, groups.root_ / "sandbox"}) {
        CB_TRY(write_value(parent / "cgroup.subtree_control", "+memory"));
        CB_TRY(write_value(parent / "cgroup.subtree_control", "+pids"));
        (void)write_value(parent / "cgroup.subtree_control", "+cpu");
    }
    // The agent answers within milliseconds however busy the sandbox is.
    write_if_present(groups.root_ / "system" / "cpu.weight", "10000");
    const auto sandbox = groups.root_ / "sandbox";
    CB_TRY(write_value(sandbox / "pids.max", std::to_string(limits::agent_sandbox_pids_max)));
    write_if_present(sandbox / "memory.swap.max", "0");
    return groups;
}

Result<void> Cgroups::set_memory_limit(std::uint64_t bytes) {
    CB_TRY(write_value(root_ / "sandbox" / "memory.max", std::to_string(bytes)));
    memory_limit_bytes_ = bytes;
    return {};
}

Result<KernelGroup> Cgroups::make_kernel_group() {
    const auto path = root_ / "sandbox" / ("kernel-" + std::to_string(++made_));
    CB_TRY(make_group(path));
    CB_TRY(write_value(path / "pids.max", std::to_string(limits::agent_kernel_pids_max)));
    CB_TRY(write_value(path / "memory.oom.group", "1"));
    return KernelGroup(path);
}

SandboxUse Cgroups::use() const {
    SandboxUse use;
    const auto sandbox = root_ / "sandbox";
    use.memory = read_memory(sandbox);
    use.cpu_usec = read_field(sandbox / "cpu.stat", "usage_usec");
    use.processes = read_number(sandbox / "pids.current");
    return use;
}

}  // namespace cellblock::vm::agent
