#include "vm/agent/zygote.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/awaitable.h"
#include "base/files.h"
#include "base/log.h"
#include "vm/agent/deadline.h"
#include "vm/agent/json_socket.h"
#include "vm/agent/launcher.h"

namespace cellblock::vm::agent {
namespace {

constexpr std::chrono::milliseconds restart_delay_min{200};
constexpr std::chrono::milliseconds restart_delay_max{30'000};
// Alive this long: the next death is a new story.
constexpr std::chrono::seconds settled_after{60};
constexpr std::chrono::milliseconds ready_poll{50};
// Below the agent in the OOM killer's eyes, above everything of the user's.
constexpr int zygote_oom_score_adj = -900;

}  // namespace

Zygote::Zygote(boost::asio::any_io_executor executor, const Options& options, Reaper& reaper,
               std::filesystem::path cgroup_procs)
    : executor_(executor),
      options_(options),
      reaper_(reaper),
      cgroup_procs_(std::move(cgroup_procs)),
      restart_timer_(executor),
      restart_delay_(restart_delay_min) {}

Zygote::~Zygote() {
    if (pid_ <= 0) return;
    reaper_.forget(pid_);
    ::kill(pid_, SIGKILL);
}

void Zygote::start() {
    if (pid_ > 0) return;
    ::unlink(options_.zygote_socket().c_str());
    LaunchRequest request;
    request.argv = {options_.python,
                    "-m",
                    "cellblock_kernel.zygote",
                    "--socket",
                    options_.zygote_socket().string(),
                    "--uid",
                    std::to_string(options_.uid),
                    "--gid",
                    std::to_string(options_.gid),
                    "--home",
                    options_.home};
    request.environment = python_environment(options_);
    request.working_directory = "/";
    request.cgroup_procs = cgroup_procs_;
    // Root, because it gives each kernel its user and its cgroup.
    request.uid = ::getuid();
    request.gid = ::getgid();
    request.oom_score_adj = options_.mode == Mode::guest ? zygote_oom_score_adj : 0;
    request.standard_error = Fd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    const auto pid = launch(executor_, std::move(request));
    if (!pid) {
        log::error("zygote_not_started", {{"reason", pid.error().text()}});
        return;
    }
    pid_ = *pid;
    started_at_ = std::chrono::steady_clock::now();
    reaper_.watch(pid_, [this](ExitStatus status) { ended(status); });
}

void Zygote::ended(ExitStatus status) {
    pid_ = -1;
    if (std::chrono::steady_clock::now() - started_at_ > settled_after) {
        restart_delay_ = restart_delay_min;
    }
    log::warning("zygote_ended",
                 {{"how", status.text()}, {"restart_in_ms", restart_delay_.count()}});
    restart_timer_.expires_after(restart_delay_);
    restart_timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) start();
    });
    restart_delay_ = std::min(restart_delay_ * 2, restart_delay_max);
}

boost::asio::awaitable<Result<void>> Zygote::wait_ready(Deadline deadline) {
    boost::asio::steady_timer timer(executor_);
    while (std::chrono::steady_clock::now() < deadline) {
        if (pid_ > 0) {
            const Json question = {{"ping", true}};
            const auto answer =
                co_await ask(options_.zygote_socket(), question,
                             std::min(deadline, after(std::chrono::seconds(10))), "the zygote");
            if (answer) co_return Result<void>{};
        }
        timer.expires_after(ready_poll);
        co_await timer.async_wait(as_tuple_awaitable);
    }
    co_return fail(ErrorCode::timeout, "the zygote did not come up in time",
                   "its messages are on the guest's console");
}

boost::asio::awaitable<Result<pid_t>> Zygote::fork(ForkRequest request, Deadline deadline) {
    if (pid_ <= 0) co_return fail(ErrorCode::unavailable, "the zygote is not running");
    Json question = {{"kernel_id", request.kernel_id},
                     {"connection_file", request.connection_file.string()},
                     {"cwd", request.working_directory},
                     {"env", request.environment},
                     {"uid", options_.uid},
                     {"gid", options_.gid}};
    if (!request.cgroup_procs.empty()) question["cgroup_procs"] = request.cgroup_procs.string();
    CB_CO_TRY_ASSIGN(answer, co_await ask(options_.zygote_socket(), std::move(question), deadline,
                                          "the zygote"));
    CB_CO_TRY_ASSIGN(pid, required_integer(answer, "pid"));
    if (pid <= 1) co_return fail(ErrorCode::guest_protocol, "the zygote named no process");
    co_return static_cast<pid_t>(pid);
}

}  // namespace cellblock::vm::agent
