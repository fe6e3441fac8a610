#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"
#include "base/pipe.h"

extern char** environ;

namespace cellblock {
namespace {

// glibc 2.36's <sys/pidfd.h> lacks extern "C", so the system calls are made directly.
int pidfd_open(pid_t pid) {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}
int pidfd_send_signal(int fd, int signal_number) {
    return static_cast<int>(::syscall(SYS_pidfd_send_signal, fd, signal_number, nullptr, 0));
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> out;
    for (std::string& text : strings) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

// posix_spawn's two option objects, freed together.
struct SpawnActions {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    SpawnActions() {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    ~SpawnActions() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
};

// Signals back to their defaults, nothing blocked, a process group of its own (a terminal's Ctrl-C
// must not reach VMs), standard streams as asked, and no descriptor that was not named.
void describe_child(SpawnActions& spawn, const SpawnOptions& options) {
    const std::array<int, 3> standard = {
        options.standard_input.get(), options.standard_output.get(), options.standard_error.get()};
    for (int target = 0; target < 3; ++target) {
        const int source = standard[static_cast<std::size_t>(target)];
        if (source >= 0) {
            posix_spawn_file_actions_adddup2(&spawn.actions, source, target);
        } else {
            posix_spawn_file_actions_addopen(&spawn.actions, target, "/dev/null",
                                             target == 0 ? O_RDONLY : O_WRONLY, 0);
        }
    }
    std::vector<int> kept = options.inherited;
    std::sort(kept.begin(), kept.end());
    int next = 3;
    for (const int fd : kept) {
        for (; next < fd; ++next) {
            // Closing what is not open is no error for posix_spawn (POSIX: it may be ignored; glibc
            // does).
            posix_spawn_file_actions_addclose(&spawn.actions, next);
        }
        posix_spawn_file_actions_adddup2(&spawn.actions, fd, fd);  // clears FD_CLOEXEC
        next = fd + 1;
    }
    posix_spawn_file_actions_addclosefrom_np(&spawn.actions, next);
    if (!options.working_directory.empty()) {
        posix_spawn_file_actions_addchdir_np(&spawn.actions, options.working_directory.c_str());
    }
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&spawn.attributes, &all);
    posix_spawnattr_setsigmask(&spawn.attributes, &none);
    posix_spawnattr_setpgroup(&spawn.attributes, 0);
    posix_spawnattr_setflags(
        &spawn.attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
}

Result<pid_t> spawn_child(SpawnOptions& options) {
    if (options.argv.empty()) return fail(ErrorCode::internal, "spawn without a command");
    SpawnActions spawn;
    describe_child(spawn, options);
    std::vector<std::string> variables;
    if (options.environment) {
        for (const auto& [name, value] : *options.environment)
            variables.push_back(name + "=" + value);
    }
    auto argv = pointers(options.argv);
    auto envp = pointers(variables);
    pid_t pid = -1;
    const int error =
        ::posix_spawnp(&pid, options.argv[0].c_str(), &spawn.actions, &spawn.attributes,
                       argv.data(), options.environment ? envp.data() : environ);
    if (error != 0) {
        Error failure = error_from_errno(error, "run " + options.argv[0]);
        if (error == ENOENT) failure.advice = "install the package that has it, or fix PATH";
        return fail(std::move(failure));
    }
    return pid;
}

ExitStatus to_exit_status(const siginfo_t& info) {
    ExitStatus status;
    if (info.si_code == CLD_EXITED) {
        status.exit_code = info.si_status;
    } else {
        status.signal = info.si_status;
    }
    return status;
}

}  // namespace

std::string ExitStatus::text() const {
    if (signal == 0) return "exit code " + std::to_string(exit_code);
    const char* name = ::sigdescr_np(signal);
    return "signal " + std::to_string(signal) + (name ? " (" + std::string(name) + ")" : "");
}

Result<Process> Process::spawn(boost::asio::any_io_executor executor, SpawnOptions options) {
    CB_TRY_ASSIGN(pid, spawn_child(options));
    Process process;
    process.pid_ = pid;
    const int pidfd = pidfd_open(pid);
    if (pidfd < 0) return fail(error_from_errno(errno, "open a pidfd"));  // destructor kills it
    process.pidfd_.emplace(executor, pidfd);
    return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::exchange(other.pidfd_, std::nullopt)),
      status_(std::exchange(other.status_, std::nullopt)) {}

Process& Process::operator=(Process&& other) noexcept {
    if (this != &other) {
        Process dying(std::move(*this));
        pid_ = std::exchange(other.pid_, -1);
        pidfd_ = std::exchange(other.pidfd_, std::nullopt);
        status_ = std::exchange(other.status_, std::nullopt);
    }
    return *this;
}

Process::~Process() {
    if (!running()) return;
    ::kill(pid_, SIGKILL);  // not reaped yet, so the number is still ours
    int ignored = 0;
    while (::waitpid(pid_, &ignored, 0) < 0 && errno == EINTR) {
    }
}

Result<void> Process::signal(int signal_number) {
    if (!running()) return {};
    if (pidfd_send_signal(pidfd_->native_handle(), signal_number) != 0 && errno != ESRCH) {
        return fail(error_from_errno(errno, "signal process " + std::to_string(pid_)));
    }
    return {};
}

Result<ExitStatus> Process::reap() {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0) {
        if (errno != EINTR) return fail(error_from_errno(errno, "wait for a child process"));
    }
    status_ = to_exit_status(info);
    return *status_;
}

boost::asio::awaitable<Result<ExitStatus>> Process::wait() {
    if (status_) co_return *status_;
    if (!pidfd_) co_return fail(ErrorCode::internal, "wait on no process");
    auto [error] = co_await pidfd_->async_wait(boost::asio::posix::descriptor_base::wait_read,
                                               as_tuple_awaitable);
    if (status_) co_return *status_;  // another waiter was quicker
    if (error) co_return fail(ErrorCode::cancelled, "waiting for a process: " + error.message());
    co_return reap();
}

boost::asio::awaitable<Result<ExitStatus>> Process::wait_until(Deadline deadline) {
    using namespace boost::asio::experimental::awaitable_operators;
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, deadline);
    auto outcome = co_await (wait() || timer.async_wait(as_tuple_awaitable));
    if (outcome.index() == 0) co_return std::move(std::get<0>(outcome));
    co_return fail(ErrorCode::timeout, "process " + std::to_string(pid_) + " did not end in time");
}

pid_t Process::release() {
    pidfd_.reset();
    return std::exchange(pid_, -1);
}

namespace {

// Reads both pipes until both are closed, the limit or the deadline.
Result<void> drain(int out, int err, CommandOutput& output, std::size_t max_bytes,
                   Deadline deadline) {
    std::array<pollfd, 2> waits = {pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
    std::array<std::string*, 2> texts = {&output.standard_output, &output.standard_error};
    std::array<char, 16384> chunk;
    while (waits[0].fd >= 0 || waits[1].fd >= 0) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return fail(ErrorCode::timeout, "the command did not end in time");
        if (::poll(waits.data(), waits.size(), static_cast<int>(left.count())) < 0 &&
            errno != EINTR) {
            return fail(error_from_errno(errno, "poll"));
        }
        for (std::size_t i = 0; i < waits.size(); ++i) {
            if (waits[i].fd < 0 || waits[i].revents == 0) continue;
            const ssize_t n = ::read(waits[i].fd, chunk.data(), chunk.size());
            if (n <= 0) {
                waits[i].fd = -1;
                continue;
            }
            const std::size_t room = max_bytes - std::min(max_bytes, texts[i]->size());
            texts[i]->append(chunk.data(), std::min(room, static_cast<std::size_t>(n)));
        }
    }
    return {};
}

}  // namespace

Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                  std::size_t max_output_bytes, std::chrono::milliseconds timeout) {
    CB_TRY_ASSIGN(out, make_pipe());
    CB_TRY_ASSIGN(err, make_pipe());
    SpawnOptions options(argv);
    options.standard_output = std::move(out.write_end);
    options.standard_error = std::move(err.write_end);
    CB_TRY_ASSIGN(pid, spawn_child(options));
    options.standard_output.reset();
    options.standard_error.reset();

    CommandOutput output;
    const auto drained = drain(out.read_end.get(), err.read_end.get(), output, max_output_bytes,
                               std::chrono::steady_clock::now() + timeout);
    if (!drained) ::kill(-pid, SIGKILL);
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED) != 0) {
        if (errno != EINTR) return fail(error_from_errno(errno, "wait for " + argv[0]));
    }
    if (!drained) return fail(drained.error().in(argv[0]));
    output.status = to_exit_status(info);
    return output;
}

}  // namespace cellblock
