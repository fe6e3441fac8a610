#include "vm/agent/boot.h"

#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/log.h"
#include "vm/agent/guest_identity.h"
#include "vm/agent/quiet.h"

namespace cellblock::vm::agent {
namespace {

namespace fs = std::filesystem;

struct Mount {
    const char* type;
    const char* target;
    unsigned long flags;
    const char* data;
};
constexpr std::array<Mount, 7> mounts = {{
    {"proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""},
    {"sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""},
    {"devtmpfs", "/dev", MS_NOSUID, "mode=755"},
    {"devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "gid=5,mode=620,ptmxmode=666"},
    {"tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777"},
    {"cgroup2", "/sys/fs/cgroup", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""},
    {"tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=755,size=64m"},
}};

// A mount point has another device than the folder it is in.
bool is_mounted(const fs::path& target) {
    struct stat here{};
    struct stat above{};
    return ::stat(target.c_str(), &here) == 0 &&
           ::stat(target.parent_path().c_str(), &above) == 0 && here.st_dev != above.st_dev;
}

Result<void> mount_file_systems() {
    for (const Mount& mount : mounts) {
        if (is_mounted(mount.target)) continue;
        CB_TRY(make_directories(mount.target));
        if (::mount(mount.type, mount.target, mount.type, mount.flags, mount.data) != 0) {
            return fail(error_from_errno(errno, std::string("mount ") + mount.target));
        }
    }
    return {};
}

// devtmpfs makes no /dev/fd and friends; shells and Python's multiprocessing want them.
Result<void> link_devices() {
    constexpr std::array<std::array<const char*, 2>, 4> links = {{
        {"/proc/self/fd", "/dev/fd"},
        {"/proc/self/fd/0", "/dev/stdin"},
        {"/proc/self/fd/1", "/dev/stdout"},
        {"/proc/self/fd/2", "/dev/stderr"},
    }};
    for (const auto& [target, name] : links) {
        if (::symlink(target, name) != 0 && errno != EEXIST) {
            return fail(error_from_errno(errno, std::string("make ") + name));
        }
    }
    return {};
}

Result<void> bring_loopback_up() {
    const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket) return fail(error_from_errno(errno, "make a socket"));
    ifreq request{};
    std::strncpy(request.ifr_name, "lo", sizeof(request.ifr_name) - 1);
    if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) {
        return fail(error_from_errno(errno, "look at the interface lo"));
    }
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
    if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0) {
        return fail(error_from_errno(errno, "bring the interface lo up"));
    }
    return {};
}

// Nothing that the sandbox does may end or starve the agent.
Result<void> protect_agent() {
    constexpr rlim_t open_files = 65536;  // running out of descriptors aborts libzmq
    const rlimit files{open_files, open_files};
    if (::setrlimit(RLIMIT_NOFILE, &files) != 0) {
        return fail(error_from_errno(errno, "raise the limit of open files"));
    }
    const rlimit no_core{0, 0};
    (void)::setrlimit(RLIMIT_CORE, &no_core);
    (void)::setpriority(PRIO_PROCESS, 0, -10);
    CB_TRY_ASSIGN(score, open_file("/proc/self/oom_score_adj", O_WRONLY));
    return write_all(score.get(), "-1000");
}

Result<void> make_run_folders(const Options& options) {
    CB_TRY(make_directories(options.run_dir, 0755));
    CB_TRY(make_directories(options.kernels_dir(), 0755));
    CB_TRY(make_directories(options.artifacts_dir(), 0755));
    if (::getuid() == 0 && ::chmod(options.artifacts_dir().c_str(), 01777) != 0) {
        return fail(error_from_errno(errno, "open the artifact folder to the user"));
    }
    return {};
}

void step(BootReport& report, const char* name, Result<void> outcome) {
    if (outcome) return;
    log::error("boot_step_failed", {{"step", name}, {"reason", outcome.error().text()}});
    report.failures.push_back({name, std::move(outcome).error()});
}

// What only makes the guest cheaper: it serves without.
void hope(const char* name, const Result<void>& outcome) {
    if (!outcome) {
        log::warning("boot_step_missed", {{"step", name}, {"reason", outcome.error().text()}});
    }
}

}  // namespace

BootReport boot(const Options& options) {
    BootReport report;
    ::umask(022);
    if (options.mode == Mode::rootless) {
        // Orphans (a zygote's kernels) become ours, as they are PID 1's in a guest.
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        step(report, "run folders", make_run_folders(options));
        return report;
    }
    step(report, "file systems", mount_file_systems());
    step(report, "device links", link_devices());
    step(report, "loopback", bring_loopback_up());
    step(report, "agent protection", protect_agent());
    hope("kernel housekeeping", quiet_kernel("/proc/sys"));
    hope("PIT", stop_unused_pit("/sys/devices/system/clockevents/clockevent0/current_device"));
    step(report, "host name", set_hostname("cellblock"));
    step(report, "run folders", make_run_folders(options));
    auto cgroups = Cgroups::set_up(options.cgroup_root);
    if (cgroups) {
        report.cgroups.emplace(std::move(*cgroups));
    } else {
        step(report, "cgroups", fail(cgroups.error()));
    }
    return report;
}

}  // namespace cellblock::vm::agent
