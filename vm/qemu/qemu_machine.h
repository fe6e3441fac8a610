// QEMU as a Machine driver: clones of a template.
//
//   spawn (jailed, RAM mapped copy-on-write from the sealed base) -> load the device state ->
//   connect the link -> cont -> the agent's hello          60 to 110 ms under TCG on a quiet host
//
// One coroutine (supervise) waits for the process and is the only one that frees it; everything
// else that ends a machine sets the reason and kills. The first reason wins.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/fd.h"
#include "base/worker_pool.h"
#include "vm/machine/machine.h"
#include "vm/qemu/qemu_process.h"

namespace cellblock::vm {

// What a template gives to its clones. Shared, because a template may be removed while clones live.
struct CloneSource {
    std::string template_key;
    GuestHardware hardware;
    std::shared_ptr<const Fd> ram;           // sealed memfd: no clone can change it
    std::shared_ptr<const Fd> root;          // the root image
    std::shared_ptr<const Fd> device_state;  // as QEMU saved it, checksum verified

    CloneSource() = default;
};

class QemuMachine final : public Machine {
  public:
    // Resumes when the guest runs and its agent has answered. `workers` must outlive the machine.
    static boost::asio::awaitable<Result<std::unique_ptr<Machine>>> clone(
        std::shared_ptr<QemuHost> host, CloneSource source, std::filesystem::path run_root,
        WorkerPool& workers);
    ~QemuMachine() override;

    const std::string& id() const override;
    const MachineInfo& info() const override;
    link::Link& link() override;
    bool alive() const override;
    void on_stream(StreamHandler handler) override;
    boost::asio::awaitable<Result<void>> rehearse_claim() override;
    boost::asio::awaitable<Result<void>> claim(ClaimRequest request) override;
    const ClaimReply& claimed() const override;
    boost::asio::awaitable<Result<void>> check(std::chrono::milliseconds timeout) override;
    boost::asio::awaitable<void> kill(std::string reason) override;
    void on_exit(ExitHandler handler) override;
    boost::asio::awaitable<Result<MemoryUsage>> memory_usage() override;
    boost::asio::awaitable<std::string> console_tail() override;

  private:
    struct Core;
    explicit QemuMachine(std::shared_ptr<Core> core) : core_(std::move(core)) {}

    std::shared_ptr<Core> core_;
};

// /proc/PID/smaps_rollup. Blocking, milliseconds.
Result<MemoryUsage> read_memory_usage(pid_t pid);

}  // namespace cellblock::vm
