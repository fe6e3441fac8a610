#include "vm/qemu/host_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "base/files.h"
#include "base/limits.h"

namespace cellblock::vm {
namespace {

namespace fs = std::filesystem;

constexpr const char* group_name = "cellblock";

Result<void> write_value(const fs::path& file, const std::string& value) {
    CB_TRY_ASSIGN(fd, open_file(file, O_WRONLY));
    auto written = write_all(fd.get(), value);
    if (!written) return fail(written.error().in(file.string()));
    return {};
}

Result<void> write_memory_max(const fs::path& group, CgroupRoot::Version version,
                              std::uint64_t bytes) {
    const char* file = version == CgroupRoot::Version::v2 ? "memory.max" : "memory.limit_in_bytes";
    return write_value(group / file, std::to_string(bytes));
}

bool make_group(const fs::path& folder) {
    if (::mkdir(folder.c_str(), 0755) == 0) return true;
    // It may be root's, from an earlier gateway.
    return errno == EEXIST && ::access(folder.c_str(), W_OK) == 0;
}

bool has_controller(const fs::path& file, const std::string& name) {
    const auto text = read_file(file, 4096);
    if (!text) return false;
    std::istringstream words(*text);
    for (std::string word; words >> word;) {
        if (word == name) return true;
    }
    return false;
}

// Where this process is in the v2 tree: "/" or "/user.slice/...".
std::string own_v2_path() {
    const auto text = read_file("/proc/self/cgroup", 64 * limits::KiB);
    std::istringstream lines(text ? *text : "");
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("0::/")) return line.substr(4);
    }
    return "";
}

CgroupRoot find_v2(const fs::path& mount) {
    CgroupRoot root;
    // Beside our own group first (what systemd delegates), then below the root (we are root).
    const std::string own = own_v2_path();
    std::vector<fs::path> parents;
    if (!own.empty()) parents.push_back((mount / own).parent_path());
    parents.push_back(mount);
    for (const fs::path& parent : parents) {
        if (!has_controller(parent / "cgroup.subtree_control", "memory")) continue;
        if (!make_group(parent / group_name)) continue;
        const auto memory = write_value(parent / group_name / "cgroup.subtree_control", "+memory");
        if (!memory) continue;
        (void)write_value(parent / group_name / "cgroup.subtree_control", "+pids");
        root.version = CgroupRoot::Version::v2;
        root.memory = root.tasks = parent / group_name;
        root.reason = "cgroup v2 limits are set under " + root.memory.string();
        return root;
    }
    root.reason = "cgroup v2 is mounted but this user may not make groups with a memory limit";
    return root;
}

}  // namespace

CgroupRoot find_cgroup_root(const fs::path& mount) {
    CgroupRoot root;
    std::error_code error;
    if (fs::exists(mount / "cgroup.controllers", error)) return find_v2(mount);
    for (const auto& [controller, place] :
         {std::pair("memory", &root.memory), std::pair("pids", &root.tasks)}) {
        const fs::path folder = mount / controller / group_name;
        if (fs::exists(mount / controller / "cgroup.procs", error) && make_group(folder)) {
            *place = folder;
        }
    }
    if (!root.memory.empty()) {
        root.version = CgroupRoot::Version::v1;
        root.reason = "cgroup v1 limits are set under " + root.memory.string();
    } else {
        root.reason = fs::exists(mount / "memory", error)
                          ? "cgroup v1 is mounted but this user may not make groups"
                          : "no cgroups are mounted under " + mount.string();
    }
    return root;
}

Result<std::unique_ptr<HostCgroup>> HostCgroup::create(const CgroupRoot& root,
                                                       const std::string& id,
                                                       std::uint64_t memory_max_bytes,
                                                       std::uint64_t tasks_max) {
    if (root.version == CgroupRoot::Version::none) {
        return fail(ErrorCode::not_supported, root.reason);
    }
    std::unique_ptr<HostCgroup> group(new HostCgroup());
    group->version_ = root.version;
    for (const fs::path& parent : {root.memory, root.tasks}) {
        if (parent.empty()) continue;
        const fs::path folder = parent / id;
        if (std::find(group->folders_.begin(), group->folders_.end(), folder) !=
            group->folders_.end()) {
            continue;
        }
        if (::mkdir(folder.c_str(), 0755) != 0) {
            return fail(error_from_errno(errno, "make the control group " + folder.string()));
        }
        group->folders_.push_back(folder);
    }
    group->memory_ = root.memory.empty() ? fs::path() : root.memory / id;
    CB_TRY(group->set_memory_max(memory_max_bytes));
    if (root.version == CgroupRoot::Version::v2) {
        (void)write_value(group->memory_ / "memory.swap.max", "0");
        // Its jail's helpers are nothing without QEMU.
        (void)write_value(group->memory_ / "memory.oom.group", "1");
    }
    if (!root.tasks.empty()) {
        (void)write_value(root.tasks / id / "pids.max", std::to_string(tasks_max));
    }
    return group;
}

Result<void> set_memory_max_of_all(const CgroupRoot& root, std::uint64_t bytes) {
    if (root.memory.empty()) return {};
    return write_memory_max(root.memory, root.version, bytes);
}

std::unique_ptr<HostCgroup> HostCgroup::open(const CgroupRoot& root, const std::string& id) {
    std::unique_ptr<HostCgroup> group(new HostCgroup());
    group->version_ = root.version;
    std::error_code error;
    for (const fs::path& parent : {root.memory, root.tasks}) {
        if (!parent.empty() && fs::is_directory(parent / id, error)) {
            group->folders_.push_back(parent / id);
        }
    }
    if (group->folders_.empty()) return nullptr;
    if (!root.memory.empty()) group->memory_ = root.memory / id;
    return group;
}

HostCgroup::~HostCgroup() {
    for (const fs::path& folder : folders_) ::rmdir(folder.c_str());
}

Result<void> HostCgroup::add(pid_t pid) {
    for (const fs::path& folder : folders_) {
        CB_TRY(write_value(folder / "cgroup.procs", std::to_string(pid)));
    }
    return {};
}

Result<void> HostCgroup::set_memory_max(std::uint64_t bytes) {
    if (memory_.empty()) return {};
    return write_memory_max(memory_, version_, bytes);
}

void sweep_cgroups(const CgroupRoot& root) {
    for (const fs::path& parent : {root.memory, root.tasks}) {
        std::error_code error;
        if (parent.empty()) continue;
        for (const auto& entry : fs::directory_iterator(parent, error)) {
            if (entry.is_directory(error)) ::rmdir(entry.path().c_str());  // refused while in use
        }
    }
}

}  // namespace cellblock::vm
