#include "vm/agent/kernel.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/awaitable.h"
#include "base/base64.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/spawn.h"
#include "vm/agent/deadline.h"
#include "vm/agent/json_socket.h"
#include "vm/agent/launcher.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> pause(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(as_tuple_awaitable);
}

std::uint64_t kernels_made = 0;  // loop thread only, as kernels are

}  // namespace

std::string_view to_string(KernelState state) {
    switch (state) {
        case KernelState::ended:
            return "dead";
        case KernelState::starting:
            return "starting";
        case KernelState::running:
            return "running";
        case KernelState::stopping:
            return "stopping";
    }
    return "dead";
}

Kernel::Kernel(const KernelServices& services, std::string id)
    : services_(services),
      id_(std::move(id)),
      short_way_("/run/k/" + std::to_string(++kernels_made)),
      relay_(std::make_shared<HostRelay>(services.executor, dropped_handler())),
      ended_(services.executor) {
    relay_->start();
}

DroppedHandler Kernel::dropped_handler() const {
    // Holds no pointer to the kernel: the events live as long as the agent.
    return [&events = services_.events, id = id_](link::Channel channel, std::size_t bytes) {
        events.emit("message_dropped",
                    {{"kernel_id", id}, {"channel", link::to_string(channel)}, {"bytes", bytes}});
    };
}

Kernel::~Kernel() {
    kill_all();
    if (pid_ > 0) services_.reaper.forget(pid_);
    if (channels_) channels_->close();
    relay_->close();
    std::error_code error;
    if (services_.options.mode == Mode::guest) std::filesystem::remove(short_way_, error);
}

// --- starting ------------------------------------------------------------------------------------

asio::awaitable<Result<Started>> Kernel::start(StartOptions options) {
    const auto self = shared_from_this();
    if (state_ != KernelState::ended || group_) {
        co_return fail(ErrorCode::conflict,
                       "kernel " + id_ + " is " + std::string(to_string(state_)),
                       "stop it first, or restart it");
    }
    name_ = options.name;
    state_ = KernelState::starting;
    auto started = co_await bring_up(std::move(options));
    if (started && state_ == KernelState::starting) {
        state_ = KernelState::running;
        co_return started;
    }
    // Whoever stopped it, or its death, has the word now; what is left of the process goes.
    Error error = started ? Error(ErrorCode::cancelled, "kernel " + id_ + " was stopped")
                          : started.error().in("starting kernel " + id_);
    if (pid_ > 0) {
        state_ = KernelState::stopping;
        kill_all();
        (void)co_await wait_ended(after(limits::agent_kernel_kill_wait));
    } else {
        if (group_) (void)group_->remove();
        group_.reset();
        state_ = KernelState::ended;
    }
    if (error.code == ErrorCode::kernel_died)
        error.cause += " (" + how_it_ended_ + ")" + log_tail();
    co_return fail(std::move(error));
}

asio::awaitable<Result<Started>> Kernel::bring_up(StartOptions options) {
    const auto begun = std::chrono::steady_clock::now();
    const Start start = options.argv.empty() ? Start::by_zygote : Start::by_argv;
    CB_CO_TRY_ASSIGN(endpoints, prepare_folder(start));
    if (services_.cgroups) {
        // The table's const view: making a group changes the tree, not the object's meaning.
        CB_CO_TRY_ASSIGN(group, const_cast<Cgroups&>(*services_.cgroups).make_kernel_group());
        group_ = std::move(group);
    }
    CB_CO_TRY_ASSIGN(started, co_await start_process(options));
    pid_ = started.pid;
    const auto self = shared_from_this();
    services_.reaper.watch(pid_, [self](ExitStatus status) {
        spawn_logged(self->services_.executor, self->after_end(status), "kernel end", self);
    });
    killed_for_ = Kill::nothing;
    spawn_logged(services_.executor, watch_processes(weak_from_this(), pid_), "process count",
                 nullptr);
    if (state_ != KernelState::starting) {
        co_return fail(ErrorCode::cancelled, "it was stopped meanwhile");
    }
    CB_CO_TRY_ASSIGN(channels, KernelChannels::open(
                                   services_.zmq, services_.executor, std::move(endpoints),
                                   [relay = relay_] { relay->notify(); }, dropped_handler()));
    channels_ = channels;
    relay_->serve(channels);
    CB_CO_TRY(co_await channels->wait_ready(begun + limits::agent_kernel_start_timeout));
    started.startup_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                             std::chrono::steady_clock::now() - begun)
                             .count();
    co_return started;
}

// Fresh, and given to the user only when all is in it: nothing of ours is written where the user
// could have put a link.
Result<KernelEndpoints> Kernel::prepare_folder(Start start) {
    const auto dir = folder();
    std::error_code error;
    std::filesystem::remove_all(dir, error);
    CB_TRY(make_directories(dir, 0700));
    const Options& options = services_.options;
    ConnectionOptions connection;
    connection.sockets = dir;
    if (options.mode == Mode::guest) {
        CB_TRY(make_directories(short_way_.parent_path(), 0755));
        std::filesystem::remove(short_way_, error);
        std::filesystem::create_symlink(dir, short_way_, error);
        if (error)
            return fail(ErrorCode::io, "link " + short_way_.string() + ": " + error.message());
        connection.sockets = short_way_;
    }
    connection.kernel_name = name_;
    if (start == Start::by_argv) connection.signature_scheme = "none";
    connection.uid = options.uid;
    connection.gid = options.gid;
    CB_TRY_ASSIGN(endpoints, write_connection_file(dir, connection));
    if (::getuid() == 0 && ::chown(dir.c_str(), options.uid, options.gid) != 0) {
        return fail(error_from_errno(errno, "give " + dir.string() + " to the kernel's user"));
    }
    return endpoints;
}

asio::awaitable<Result<Started>> Kernel::start_process(const StartOptions& options) {
    Started started;
    started.via = "zygote";
    if (options.argv.empty() && services_.zygote.started()) {
        ForkRequest request;
        request.kernel_id = id_;
        request.connection_file = connection_file(folder());
        request.working_directory = options.working_directory;
        request.environment = options.environment;
        if (group_) request.cgroup_procs = group_->procs();
        auto ready =
            co_await services_.zygote.wait_ready(after(limits::agent_zygote_start_timeout));
        if (ready) {
            auto pid = co_await services_.zygote.fork(std::move(request),
                                                      after(limits::agent_zygote_fork_timeout));
            if (pid) {
                started.pid = *pid;
                co_return started;
            }
            // A refusal (no such folder) would meet the plain way as well; a dead zygote not.
            if (services_.zygote.started() && pid.error().code == ErrorCode::io) {
                co_return fail(pid.error());
            }
            ready = fail(pid.error());
        }
        log::warning("kernel_spawned_plainly", {{"reason", ready.error().text()}});
    }
    started.via = "spawn";
    CB_CO_TRY_ASSIGN(pid, spawn_plainly(options));
    started.pid = pid;
    co_return started;
}

Result<pid_t> Kernel::spawn_plainly(const StartOptions& options) {
    const Options& agent = services_.options;
    LaunchRequest request;
    request.argv = options.argv;
    if (request.argv.empty()) {
        request.argv = {agent.python, "-m", "cellblock_kernel.launch", "-f", "{connection_file}"};
    }
    std::replace(request.argv.begin(), request.argv.end(), std::string("{connection_file}"),
                 connection_file(folder()).string());
    request.environment = python_environment(agent);
    for (const auto& [name, value] : options.environment) request.environment[name] = value;
    request.working_directory =
        options.working_directory.empty() ? agent.home : options.working_directory;
    if (group_) request.cgroup_procs = group_->procs();
    request.uid = agent.uid;
    request.gid = agent.gid;
    CB_TRY_ASSIGN(output,
                  open_file(folder() / "kernel.log", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW));
    request.standard_error = Fd(::fcntl(output.get(), F_DUPFD_CLOEXEC, 3));
    request.standard_output = std::move(output);
    return launch(services_.executor, std::move(request));
}

// --- ending --------------------------------------------------------------------------------------

void Kernel::kill_all() {
    if (pid_ > 0) {
        (void)::kill(-pid_, SIGKILL);
        (void)::kill(pid_, SIGKILL);
    }
    if (group_) (void)group_->kill();
}

asio::awaitable<void> Kernel::watch_processes(std::weak_ptr<Kernel> watched, pid_t pid) {
    auto interval = limits::agent_kernel_processes_interval_min;
    std::size_t before = 0;
    while (true) {
        co_await pause(interval);
        const auto kernel = watched.lock();
        if (!kernel || kernel->pid_ != pid || !kernel->group_) co_return;
        const std::size_t processes = kernel->group_->processes();
        interval = processes == before
                       ? std::min(2 * interval, limits::agent_kernel_processes_interval_max)
                       : limits::agent_kernel_processes_interval_min;
        before = processes;
        if (processes <= limits::agent_kernel_processes_max) continue;
        log::warning("kernel_killed", {{"pid", pid}, {"processes", processes}});
        kernel->killed_for_ = Kill::too_many_processes;
        kernel->kill_all();
        co_return;
    }
}

asio::awaitable<Result<void>> Kernel::stop() {
    const auto self = shared_from_this();
    if (state_ == KernelState::running && channels_) {
        state_ = KernelState::stopping;
        const auto grace = after(limits::agent_kernel_stop_grace);
        const Json content = {{"restart", false}};
        const auto answered =
            co_await channels_->request(link::Channel::control, "shutdown_request", content, grace);
        if (answered) (void)co_await wait_ended(grace);
    }
    if (state_ == KernelState::ended && pid_ <= 0) co_return Result<void>{};
    state_ = KernelState::stopping;
    kill_all();
    co_return co_await wait_ended(after(limits::agent_kernel_kill_wait));
}

asio::awaitable<Result<void>> Kernel::wait_ended(Deadline deadline) {
    while (state_ != KernelState::ended && co_await ended_.wait_until(deadline)) {
    }
    if (state_ == KernelState::ended) co_return Result<void>{};
    co_return fail(ErrorCode::timeout, "kernel " + id_ + " did not end in time");
}

asio::awaitable<void> Kernel::after_end(ExitStatus status) {
    const auto self = shared_from_this();
    const pid_t pid = std::exchange(pid_, -1);
    how_it_ended_ = status.text();
    const bool asked = state_ == KernelState::stopping;
    const bool was_running = state_ == KernelState::running;
    const auto channels = std::exchange(channels_, nullptr);
    const auto group = std::exchange(group_, std::nullopt);
    const MemoryUse memory = group ? group->memory() : MemoryUse();
    // What it wrote last is still on its way through its sockets.
    if (was_running) co_await pause(limits::agent_kernel_last_words);
    if (channels) channels->close();
    if (group) co_await clear_group(*group);
    state_ = KernelState::ended;
    ended_.notify_all();
    log::info("kernel_ended", {{"pid", pid},
                               {"how", status.text()},
                               {"asked", asked},
                               {"out_of_memory", memory.oom_kills > 0}});
    if (!was_running) co_return;
    Json event = {{"kernel_id", id_},
                  {"pid", pid},
                  {"out_of_memory", memory.oom_kills > 0},
                  {"peak_bytes", memory.peak_bytes},
                  {"limit_bytes", services_.cgroups ? services_.cgroups->memory_limit() : 0}};
    if (killed_for_ == Kill::too_many_processes) {
        event["processes_max"] = limits::agent_kernel_processes_max;
    }
    if (status.signal != 0) {
        event["signal"] = status.signal;
    } else {
        event["exit_code"] = status.exit_code;
    }
    services_.events.emit("kernel_died", std::move(event));
}

// The kernel's children die with it; the folder can go when the last is reaped.
asio::awaitable<void> Kernel::clear_group(KernelGroup group) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        (void)group.kill();
        if (!group.populated() && group.remove()) co_return;
        co_await pause(std::chrono::milliseconds(attempt < 10 ? 5 : 50));
    }
    log::warning("kernel_group_left_behind");
}

std::string Kernel::log_tail() const {
    constexpr std::size_t tail_bytes = 600;
    const auto file = open_file(folder() / "kernel.log", O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat info{};
    if (!file || ::fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
    std::string text(tail_bytes, '\0');
    const off_t from = std::max<off_t>(0, info.st_size - static_cast<off_t>(tail_bytes));
    const ssize_t n = ::pread(file->get(), text.data(), text.size(), from);
    if (n <= 0) return {};
    text.resize(static_cast<std::size_t>(n));
    return "; its last words: " + text;
}

// --- while it runs -------------------------------------------------------------------------------

Result<void> Kernel::signal(int signal_number) {
    if (pid_ <= 0) return fail(ErrorCode::kernel_died, "kernel " + id_ + " has no process");
    // The process is not reaped yet, so the group is still its own.
    if (::kill(-pid_, signal_number) != 0) {
        return fail(error_from_errno(errno, "signal kernel " + id_));
    }
    return {};
}

asio::awaitable<Result<void>> Kernel::reseed(Bytes entropy,
                                             const std::map<std::string, std::string>& environment,
                                             const std::string& working_directory) {
    Json question = {{"reseed", base64_encode(entropy)}, {"env", environment}};
    if (!working_directory.empty()) question["cwd"] = working_directory;
    const std::string whom = "kernel " + id_;
    const auto answer = co_await ask(folder() / "identity.sock", question,
                                     after(limits::agent_reseed_timeout), whom);
    if (!answer) co_return fail(answer.error().in("reseeding"));
    const auto ok = optional_boolean(*answer, "ok");
    if (ok && ok->value_or(false)) co_return Result<void>{};
    co_return fail(ErrorCode::internal, whom + " did not confirm that it was reseeded");
}

asio::awaitable<Result<void>> Kernel::run_silently(std::string code, Deadline deadline) {
    if (!channels_) co_return fail(ErrorCode::kernel_died, "kernel " + id_ + " has no process");
    const auto channels = channels_;
    const Json content = {{"code", code},
                          {"silent", true},
                          {"store_history", false},
                          {"allow_stdin", false},
                          {"stop_on_error", false}};
    CB_CO_TRY_ASSIGN(reply, co_await channels->request(link::Channel::shell, "execute_request",
                                                       content, deadline));
    CB_CO_TRY_ASSIGN(status, required_string(reply, "status"));
    if (status == "ok") co_return Result<void>{};
    const auto reason = optional_string(reply, "evalue");
    co_return fail(ErrorCode::internal, "the kernel's silent cell failed: " +
                                            (reason ? reason->value_or(status) : status));
}

}  // namespace cellblock::vm::agent
