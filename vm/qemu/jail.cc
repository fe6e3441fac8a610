#include "vm/qemu/jail.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/ids.h"
#include "base/limits.h"
#include "base/process.h"

namespace cellblock::vm {
namespace {

// Between systemd's container range and its foreign range nobody allocates anything
// (systemd's UIDS-GIDS.md calls 1879048192 to 2147352575 unused).
constexpr std::uint32_t preferred_first_uid = 1879048192;
// For containers that map 65536 ids only: above the system's and the users', below DynamicUser's.
constexpr std::uint32_t fallback_first_uid = 40000;
constexpr std::uint32_t uid_count = 16384;

void add(std::vector<std::string>& arguments, std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more);
}

bool is_mapped(std::uint32_t first, std::uint32_t count) {
    std::ifstream map("/proc/self/uid_map");
    std::uint64_t inside = 0;
    std::uint64_t outside = 0;
    std::uint64_t length = 0;
    while (map >> inside >> outside >> length) {
        if (first >= inside && std::uint64_t{first} + count <= inside + length) return true;
    }
    return false;
}

void add_limits(std::vector<std::string>& arguments, const JailOptions& options) {
    add(arguments,
        {"prlimit", "--core=0", "--nofile=" + std::to_string(limits::qemu_open_files_max),
         "--fsize=" + std::to_string(limits::qemu_file_max_bytes)});
    // Processes are counted per uid over the whole host: only a uid of its own can have a low
    // limit.
    if (options.uid) add(arguments, {"--nproc=" + std::to_string(limits::qemu_tasks_max)});
    if (options.address_space_bytes > 0) {
        add(arguments, {"--as=" + std::to_string(options.address_space_bytes)});
    }
    add(arguments, {"--"});
}

void add_bubblewrap(std::vector<std::string>& arguments, const JailOptions& options) {
    add(arguments, {"bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net",
                    "--unshare-uts", "--unshare-cgroup-try", "--disable-userns", "--new-session",
                    // QEMU itself is process 1 there: one process less, and its id is known.
                    "--as-pid-1", "--hostname", "cellblock", "--clearenv", "--setenv", "PATH",
                    "/usr/bin", "--setenv", "LC_ALL", "C.UTF-8", "--cap-drop", "ALL"});
    add(arguments, {"--ro-bind",
                    "/usr",
                    "/usr",
                    "--symlink",
                    "usr/lib",
                    "/lib",
                    "--symlink",
                    "usr/lib64",
                    "/lib64",
                    "--symlink",
                    "usr/bin",
                    "/bin",
                    "--ro-bind-try",
                    "/etc/alternatives",
                    "/etc/alternatives",
                    "--ro-bind-try",
                    "/etc/ld.so.cache",
                    "/etc/ld.so.cache",
                    "--proc",
                    "/proc",
                    "--dev",
                    "/dev"});
    if (options.accelerator == AcceleratorKind::kvm) {
        add(arguments, {"--dev-bind", "/dev/kvm", "/dev/kvm"});
    }
    // Nothing below the new root can be written but /dev/shm's tmpfs, which QEMU's fsize bounds.
    add(arguments, {"--remount-ro", "/"});
    if (options.lifetime == JailOptions::Lifetime::with_parent) {
        add(arguments, {"--die-with-parent"});
    }
    if (options.info_fd >= 0) add(arguments, {"--info-fd", std::to_string(options.info_fd)});
    add(arguments, {"--"});
}

}  // namespace

std::vector<std::string> jail_arguments(const JailOptions& options,
                                        const std::vector<std::string>& command) {
    std::vector<std::string> arguments;
    if (options.uid) {
        const std::string uid = std::to_string(*options.uid);
        add(arguments, {"setpriv", "--reuid=" + uid, "--regid=" + uid, "--no-new-privs"});
        const bool needs_group =
            options.accelerator == AcceleratorKind::kvm && options.kvm_gid.has_value();
        add(arguments, {needs_group ? "--groups=" + std::to_string(*options.kvm_gid)
                                    : std::string("--clear-groups"),
                        "--"});
    }
    add_limits(arguments, options);
    add_bubblewrap(arguments, options);
    arguments.insert(arguments.end(), command.begin(), command.end());
    return arguments;
}

std::optional<std::uint32_t> choose_vm_uid(const std::set<std::uint32_t>& used) {
    if (::geteuid() != 0) return std::nullopt;
    std::uint32_t first = preferred_first_uid;
    if (!is_mapped(first, uid_count)) first = fallback_first_uid;
    if (!is_mapped(first, uid_count)) return std::nullopt;
    std::uint32_t slot = 0;
    fill_random(&slot, sizeof slot);
    for (std::uint32_t i = 0; i < uid_count; ++i) {
        const std::uint32_t uid = first + (slot + i) % uid_count;
        if (!used.contains(uid)) return uid;
    }
    return std::nullopt;
}

Result<void> check_jail() {
    JailOptions options;
    options.uid = choose_vm_uid({});
    const auto output =
        run_command(jail_arguments(options, {"/usr/bin/true"}), 4096, std::chrono::seconds(10));
    if (!output) return fail(output.error().in("trying the jail"));
    if (output->status.success()) return {};
    std::string cause = "bubblewrap cannot make a jail here: " + output->standard_error;
    while (!cause.empty() && cause.back() == '\n') cause.pop_back();
    return fail(ErrorCode::not_supported, cause,
                "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1 and "
                "user.max_user_namespaces above 0; in a container, run it with the rights to make "
                "them, such as Docker's --security-opt seccomp=unconfined)");
}

}  // namespace cellblock::vm
