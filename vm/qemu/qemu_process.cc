#include "vm/qemu/qemu_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/pipe.h"
#include "vm/qemu/jail.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

// bubblewrap's report on its child: a few hundred bytes of JSON, then end of file.
asio::awaitable<std::string> read_info(Fd read_end, Deadline deadline) {
    using namespace asio::experimental::awaitable_operators;
    const auto executor = co_await asio::this_coro::executor;
    asio::posix::stream_descriptor pipe(executor, read_end.release());
    asio::steady_timer timer(executor, deadline);
    std::string text;
    std::array<char, 1024> chunk;
    while (text.size() < 4096 && text.find('}') == std::string::npos) {
        auto outcome = co_await (pipe.async_read_some(asio::buffer(chunk), as_tuple_awaitable) ||
                                 timer.async_wait(as_tuple_awaitable));
        if (outcome.index() != 0) break;
        const auto [error, size] = std::get<0>(outcome);
        if (error) break;
        text.append(chunk.data(), size);
    }
    co_return text;
}

// The rest of a start that failed before bubblewrap had told its child's id.
void kill_children_of(pid_t parent) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto text = read_file(entry.path() / "stat", 4096);
        if (!text) continue;
        const std::size_t end = text->rfind(')');
        if (end == std::string::npos || end + 4 >= text->size()) continue;
        if (std::strtol(text->c_str() + end + 4, nullptr, 10) == parent) {
            ::kill(static_cast<pid_t>(std::stol(name)), SIGKILL);
        }
    }
}

std::string last_lines(std::string text, std::size_t max_bytes) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    if (text.size() > max_bytes) text.erase(0, text.size() - max_bytes);
    return text;
}

}  // namespace

std::shared_ptr<QemuHost> QemuHost::detect() {
    auto host = std::make_shared<QemuHost>();
    host->cgroups = find_cgroup_root();
    sweep_cgroups(host->cgroups);
    struct stat status;
    if (::stat("/dev/kvm", &status) == 0) host->kvm_gid = status.st_gid;
    return host;
}

Result<void> QemuProcess::spawn(asio::any_io_executor executor, const QemuLaunch& launch,
                                Fd info_write) {
    CB_TRY_ASSIGN(monitor, folder_.listen("monitor.sock"));
    CB_TRY_ASSIGN(port, folder_.listen("port.sock"));
    QemuDescriptors descriptors;
    descriptors.ram = launch.ram;
    descriptors.root = launch.root;
    descriptors.kernel = launch.kernel;
    descriptors.initrd = launch.initrd;
    descriptors.monitor = monitor.get();
    descriptors.port = port.get();

    JailOptions jail;
    uid_ = choose_vm_uid(host_->used_uids);
    if (uid_) host_->used_uids.insert(*uid_);
    jail.uid = uid_;
    jail.accelerator = launch.hardware.accelerator;
    jail.kvm_gid = host_->kvm_gid;
    jail.address_space_bytes = launch.hardware.ram_bytes + limits::qemu_address_space_slack_bytes;
    jail.info_fd = info_write.get();
    jail.lifetime = launch.start == QemuStart::boot ? JailOptions::Lifetime::with_parent
                                                    : JailOptions::Lifetime::own;

    SpawnOptions options(jail_arguments(
        jail, qemu_arguments(launch.hardware, descriptors, launch.start, launch.id)));
    options.environment = std::map<std::string, std::string>{
        {"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}, {"LC_ALL", "C.UTF-8"}};
    options.working_directory = "/";
    CB_TRY_ASSIGN(log, open_file(folder_.path() / "qemu.log", O_WRONLY | O_CREAT | O_APPEND, 0600));
    options.standard_error = std::move(log);
    options.inherited = descriptors.all();
    options.inherited.push_back(info_write.get());
    CB_TRY_ASSIGN(process, Process::spawn(executor, std::move(options)));
    jail_.emplace(std::move(process));
    return {};
}

Result<void> QemuProcess::identify(const std::string& info, const QemuLaunch& launch) {
    const auto json = parse_json(info, JsonLimits{4096, 8}, "bubblewrap's report");
    std::int64_t child = 0;
    if (json && json->is_object()) {
        const auto field = optional_integer(*json, "child-pid");
        child = field ? field->value_or(0) : 0;
    }
    if (child <= 1) return fail(ErrorCode::io, "the jail did not start");
    pid_ = static_cast<pid_t>(child);
    pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!pidfd_) return fail(error_from_errno(errno, "hold the jailed process"));
    // A control group is an extra wall: without the rights for one the VM runs all the same.
    if (cgroup_) {
        for (const pid_t pid : {jail_->pid(), pid_}) {
            if (auto added = cgroup_->add(pid); !added) {
                log::warning("cgroup_not_joined", {{"reason", added.error().text()}});
            }
        }
    }
    RunManifest manifest;
    CB_TRY_ASSIGN(start, process_start_time(pid_));
    manifest.id = launch.id;
    manifest.pid = pid_;
    manifest.start_time_ticks = start;
    manifest.boot_id = host_boot_id();
    manifest.template_key = launch.template_key;
    manifest.accelerator = to_string(launch.hardware.accelerator);
    manifest.uid = uid_.value_or(0);
    manifest.ram_bytes = launch.hardware.ram_bytes;
    struct stat ram{};
    if (::fstat(launch.ram, &ram) == 0) manifest.ram_inode = ram.st_ino;
    manifest.created_at_ns = wall_clock_ns();
    return write_manifest(folder_.path(), manifest);
}

asio::awaitable<Result<std::unique_ptr<QemuProcess>>> QemuProcess::start(
    QemuLaunch launch, QmpClient::EventHandler on_event) {
    const auto executor = co_await asio::this_coro::executor;
    const Deadline deadline = std::chrono::steady_clock::now() + limits::qemu_start_timeout;
    std::unique_ptr<QemuProcess> self(new QemuProcess());
    self->host_ = launch.host;
    CB_CO_TRY_ASSIGN(folder, RunFolder::create(launch.run_root, launch.id));
    self->folder_ = std::move(folder);
    auto cgroup = HostCgroup::create(
        launch.host->cgroups, launch.id,
        2 * launch.hardware.ram_bytes + limits::qemu_host_overhead_bytes, limits::qemu_tasks_max);
    if (cgroup) {
        self->cgroup_ = std::move(*cgroup);
    } else if (cgroup.error().code != ErrorCode::not_supported) {
        log::warning("cgroup_not_made", {{"reason", cgroup.error().text()}});
    }
    CB_CO_TRY_ASSIGN(pipe, make_pipe());
    auto spawned = self->spawn(executor, launch, std::move(pipe.write_end));
    if (!spawned) co_return fail(spawned.error().in("starting QEMU"));

    const std::string info = co_await read_info(std::move(pipe.read_end), deadline);
    auto identified = self->identify(info, launch);
    if (!identified) co_return fail(self->failure(identified.error()));
    auto monitor = co_await QmpClient::connect(self->folder_.short_path("monitor.sock"),
                                               std::move(on_event), deadline);
    if (!monitor) co_return fail(self->failure(monitor.error()));
    self->qmp_ = std::move(*monitor);
    co_return std::move(self);
}

asio::awaitable<Result<std::unique_ptr<QemuProcess>>> QemuProcess::adopt(
    std::shared_ptr<QemuHost> host, std::filesystem::path run_root, RunManifest manifest,
    QmpClient::EventHandler on_event) {
    const Deadline deadline = std::chrono::steady_clock::now() + limits::qemu_start_timeout;
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, manifest.pid, 0)));
    // The pidfd holds the process; only now is the check free of races.
    if (!pidfd || !is_machine(manifest)) {
        co_return fail(ErrorCode::sandbox_gone, "its process has ended");
    }
    std::unique_ptr<QemuProcess> self(new QemuProcess());
    CB_CO_TRY_ASSIGN(folder, RunFolder::open(run_root, manifest.id));
    self->host_ = std::move(host);
    self->folder_ = std::move(folder);
    self->cgroup_ = HostCgroup::open(self->host_->cgroups, manifest.id);
    if (manifest.uid != 0) {
        self->uid_ = manifest.uid;
        self->host_->used_uids.insert(manifest.uid);
    }
    self->pid_ = manifest.pid;
    self->pidfd_ = std::move(pidfd);
    auto monitor = co_await QmpClient::connect(self->folder_.short_path("monitor.sock"),
                                               std::move(on_event), deadline);
    if (!monitor) co_return fail(monitor.error());
    self->qmp_ = std::move(*monitor);
    co_return std::move(self);
}

Result<Fd> QemuProcess::open_ram(std::uint64_t inode) const {
    const std::filesystem::path folder = "/proc/" + std::to_string(pid_) + "/fd";
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        struct stat status{};
        if (::stat(entry.path().c_str(), &status) != 0 || status.st_ino != inode) continue;
        const auto name = std::filesystem::read_symlink(entry.path(), error);
        if (error || !name.string().starts_with("/memfd:")) continue;
        return open_file(entry.path(), O_RDONLY);
    }
    return fail(ErrorCode::not_supported, "the RAM of an adopted machine cannot be reached",
                "the gateway needs CAP_SYS_PTRACE");
}

Error QemuProcess::failure(Error cause) const {
    Error error = cause.in("starting QEMU");
    const std::string tail = log_tail();
    if (!tail.empty()) error.cause += "; it said: " + tail;
    return error;
}

QemuProcess::~QemuProcess() {
    if (qmp_) qmp_->close();
    if (may_run()) {
        if (!pidfd_) kill_children_of(jail_->pid());
        kill_now();
        // Confirmed gone before anything it used is freed. The kernel ends a SIGKILLed process in
        // milliseconds unless it hangs in the kernel; then it is left to the next sweep.
        pollfd wait{pidfd_.get(), POLLIN, 0};
        if (pidfd_) {
            const auto timeout = std::chrono::milliseconds(limits::machine_kill_timeout);
            if (::poll(&wait, 1, static_cast<int>(timeout.count())) == 0) {
                log::error("qemu_not_killable", {{"pid", pid_}, {"id", folder_.id()}});
                folder_.release();
            }
        }
    }
    jail_.reset();  // reaps bubblewrap
    cgroup_.reset();
    if (uid_) host_->used_uids.erase(*uid_);
}

bool QemuProcess::may_run() const {
    return jail_ ? jail_->running() : static_cast<bool>(pidfd_);
}

Result<Fd> QemuProcess::connect_port() const {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return fail(error_from_errno(errno, "make a Unix socket"));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = folder_.short_path("port.sock");
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return fail(ErrorCode::connection_lost,
                    std::string("could not connect to the guest's port: ") + std::strerror(errno));
    }
    return socket;
}

asio::awaitable<Result<Json>> QemuProcess::command(std::string name, Json arguments) {
    co_return co_await qmp_->execute(std::move(name), std::move(arguments),
                                     limits::qmp_command_timeout);
}

asio::awaitable<std::string> QemuProcess::console_tail() {
    if (!qmp_ || !qmp_->connected()) co_return std::string();
    Json arguments = {{"device", "console"}, {"size", limits::console_ring_bytes}};
    auto read = co_await qmp_->execute("ringbuf-read", std::move(arguments),
                                       std::chrono::milliseconds(1000));
    if (!read || !read->is_string()) co_return std::string();
    co_return last_lines(read->get<std::string>(), limits::console_tail_bytes);
}

std::string QemuProcess::log_tail() const {
    const auto text = read_file(folder_.path() / "qemu.log", limits::qemu_file_max_bytes);
    return text ? last_lines(*text, 1024) : std::string();
}

asio::awaitable<Result<ExitStatus>> QemuProcess::wait() {
    if (jail_) co_return co_await jail_->wait();
    asio::posix::stream_descriptor watched(co_await asio::this_coro::executor,
                                           ::fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 3));
    co_await watched.async_wait(asio::posix::descriptor_base::wait_read, as_tuple_awaitable);
    co_return fail(ErrorCode::not_found, "it was another process's child");
}

void QemuProcess::kill_now() {
    if (pidfd_) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

asio::awaitable<bool> QemuProcess::kill() {
    kill_now();
    if (!jail_) co_return true;
    const Deadline deadline = std::chrono::steady_clock::now() + limits::machine_kill_timeout;
    const auto ended = co_await jail_->wait_until(deadline);
    co_return ended.has_value();
}

}  // namespace cellblock::vm
