// One kernel: its process, its cgroup, its sockets. Restarting makes a new process under the same
// id, and the host's `kernel` stream goes on with it: first all of the old process, then the new.
//
//   start()                      -> starting -> running
//   stop()                       running, starting -> stopping -> ended
//   the process ends by itself   -> ended, and the event kernel_died
//
// Owner: KernelTable, by shared_ptr, since coroutines of it wait across the table's changes. Loop
// thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "vm/agent/cgroups.h"
#include "vm/agent/events.h"
#include "vm/agent/host_relay.h"
#include "vm/agent/kernel_channels.h"
#include "vm/agent/options.h"
#include "vm/agent/reaper.h"
#include "vm/agent/zygote.h"

namespace cellblock::vm::agent {

// What all kernels share; lives as long as the agent.
struct KernelServices {
    boost::asio::any_io_executor executor;
    const Options& options;
    zmq::context_t& zmq;
    Reaper& reaper;
    Zygote& zygote;
    Events& events;
    const std::optional<Cgroups>& cgroups;  // absent: rootless
};

struct StartOptions {
    std::string name = "python3";
    std::string working_directory;  // empty: the user's home
    std::map<std::string, std::string> environment;
    std::vector<std::string> argv;  // a kernelspec's; empty: a fork of the zygote

    StartOptions() = default;
};

struct Started {
    pid_t pid = -1;
    std::string via;  // "zygote" or "spawn"
    std::int64_t startup_ms = 0;

    Started() = default;
};

// Why the agent itself killed a process that nobody asked it to.
enum class Kill { nothing, too_many_processes };

enum class KernelState { ended, starting, running, stopping };
std::string_view to_string(KernelState state);

class Kernel : public std::enable_shared_from_this<Kernel> {
  public:
    Kernel(const KernelServices& services, std::string id);
    ~Kernel();

    const std::string& id() const { return id_; }
    const std::string& name() const { return name_; }
    pid_t pid() const { return pid_; }
    KernelState state() const { return state_; }

    // Only when ended. Completes when the kernel has answered on its sockets.
    boost::asio::awaitable<Result<Started>> start(StartOptions options);
    // Politely for a moment, then SIGKILL to everything in its cgroup. Ok when there is no process.
    boost::asio::awaitable<Result<void>> stop();
    // SIGKILL to the process, its group and its cgroup.
    void kill_all();
    // To the kernel's process group.
    Result<void> signal(int signal_number);
    // Messages from and to this stream from now on, whichever process runs.
    // `after`: see HostRelay::attach().
    void attach(link::StreamPtr stream, std::optional<std::int64_t> after) {
        relay_->attach(std::move(stream), after);
    }
    void acknowledge(std::uint64_t position) { relay_->acknowledge(position); }
    // Fails unless the kernel has confirmed that its random generators are fresh.
    boost::asio::awaitable<Result<void>> reseed(
        Bytes entropy, const std::map<std::string, std::string>& environment,
        const std::string& working_directory);
    // Runs code silently, as the agent's own request.
    boost::asio::awaitable<Result<void>> run_silently(std::string code, Deadline deadline);

  private:
    enum class Start { by_zygote, by_argv };
    Result<KernelEndpoints> prepare_folder(Start start);
    boost::asio::awaitable<Result<Started>> start_process(const StartOptions& options);
    Result<pid_t> spawn_plainly(const StartOptions& options);
    DroppedHandler dropped_handler() const;
    boost::asio::awaitable<Result<Started>> bring_up(StartOptions options);
    // Kills the process when it has made too many others, by fork bomb or by mistake.
    static boost::asio::awaitable<void> watch_processes(std::weak_ptr<Kernel> kernel, pid_t pid);
    boost::asio::awaitable<void> after_end(ExitStatus status);
    boost::asio::awaitable<void> clear_group(KernelGroup group);
    boost::asio::awaitable<Result<void>> wait_ended(Deadline deadline);
    std::filesystem::path folder() const { return services_.options.kernels_dir() / id_; }
    std::string log_tail() const;

    const KernelServices& services_;
    std::string id_;
    // In a guest: a link to folder() for the addresses of sockets, which xeus reads into 32 bytes
    // (ZMQ_LAST_ENDPOINT; a longer one ends xeus-python 0.19 with EINVAL).
    std::filesystem::path short_way_;
    std::string name_;
    KernelState state_ = KernelState::ended;
    pid_t pid_ = -1;
    std::string how_it_ended_ = "never started";
    Kill killed_for_ = Kill::nothing;
    std::optional<KernelGroup> group_;
    std::shared_ptr<KernelChannels> channels_;
    std::shared_ptr<HostRelay> relay_;
    Condition ended_;
};

}  // namespace cellblock::vm::agent
