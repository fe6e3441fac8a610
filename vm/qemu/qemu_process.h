// One jailed QEMU: spawned, its monitor connected, its process known by pidfd, its run folder and
// host limits owned. What the guest in it is for (a template's boot, a clone) is its user's
// business.
//
// Owner: TemplateBuilder or QemuMachine. Loop thread only. The destructor kills the process, and
// only then frees folder, control group and uid.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "base/process.h"
#include "vm/qemu/command_line.h"
#include "vm/qemu/host_cgroup.h"
#include "vm/qemu/qmp.h"
#include "vm/qemu/run_folder.h"

namespace cellblock::vm {

// What all QEMUs of this gateway share. Owner: the driver; processes keep it alive.
struct QemuHost {
    CgroupRoot cgroups;
    std::set<std::uint32_t> used_uids;
    std::optional<std::uint32_t> kvm_gid;  // the group of /dev/kvm

    QemuHost() = default;
    static std::shared_ptr<QemuHost> detect();
};

struct QemuLaunch {
    std::shared_ptr<QemuHost> host;
    std::filesystem::path run_root;
    std::string id;
    std::string template_key;  // for the manifest
    GuestHardware hardware;
    QemuStart start = QemuStart::restore;
    // Borrowed until start() has returned.
    int ram = -1;
    int root = -1;
    int kernel = -1;
    int initrd = -1;

    QemuLaunch() = default;
};

class QemuProcess {
  public:
    // Resumes when QEMU's monitor answers. On an error nothing is left behind; the error has the
    // last line that QEMU or the jail wrote.
    static boost::asio::awaitable<Result<std::unique_ptr<QemuProcess>>> start(
        QemuLaunch launch, QmpClient::EventHandler on_event);
    // Takes over one that an earlier gateway started. On an error it still runs, unless its monitor
    // is what failed.
    static boost::asio::awaitable<Result<std::unique_ptr<QemuProcess>>> adopt(
        std::shared_ptr<QemuHost> host, std::filesystem::path run_root, RunManifest manifest,
        QmpClient::EventHandler on_event);
    ~QemuProcess();
    QemuProcess(const QemuProcess&) = delete;
    QemuProcess& operator=(const QemuProcess&) = delete;

    QmpClient& qmp() { return *qmp_; }
    pid_t pid() const { return pid_; }
    const RunFolder& folder() const { return folder_; }
    HostCgroup* cgroup() { return cgroup_.get(); }

    // A new connection to the guest's port; QEMU serves one at a time.
    Result<Fd> connect_port() const;
    // monitor command with the usual time limit.
    boost::asio::awaitable<Result<Json>> command(std::string name, Json arguments = Json::object());
    // Empties the console's ring; the last limits::console_tail_bytes of it. Empty when QEMU is
    // gone.
    boost::asio::awaitable<std::string> console_tail();
    // The last kilobyte of QEMU's stderr.
    std::string log_tail() const;

    // The memfd that it maps as its RAM, as our own descriptor: of an adopted process, which has
    // an earlier gateway's. Needs a debugger's rights.
    Result<Fd> open_ram(std::uint64_t inode) const;

    // Resumes when the process has ended. How an adopted one ended is told to nobody: an error.
    boost::asio::awaitable<Result<ExitStatus>> wait();
    // SIGKILL without waiting.
    void kill_now();
    // SIGKILL and a bounded wait; true once it is gone.
    boost::asio::awaitable<bool> kill();

  private:
    QemuProcess() = default;
    Result<void> spawn(boost::asio::any_io_executor executor, const QemuLaunch& launch,
                       Fd info_write);
    Result<void> identify(const std::string& info, const QemuLaunch& launch);
    Error failure(Error cause) const;
    bool may_run() const;

    std::shared_ptr<QemuHost> host_;
    std::optional<std::uint32_t> uid_;
    RunFolder folder_ = RunFolder::none();
    std::unique_ptr<HostCgroup> cgroup_;
    std::optional<Process> jail_;  // bubblewrap, which waits for QEMU; absent: adopted
    Fd pidfd_;                     // of QEMU itself
    pid_t pid_ = -1;
    std::unique_ptr<QmpClient> qmp_;
};

}  // namespace cellblock::vm
