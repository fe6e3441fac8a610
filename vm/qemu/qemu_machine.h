// QEMU as a Machine driver: clones of a template.
//
//   spawn (jailed, RAM mapped copy-on-write from the sealed base) -> load the device state ->
//   connect the link -> cont -> the agent's hello          60 to 110 ms under TCG on a quiet host
//
// A machine of another one's state is the same with the pages that the other had written, put into
// the new one's memory before it runs, and the other's devices.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/fd.h"
#include "base/worker_pool.h"
#include "vm/machine/machine.h"
#include "vm/qemu/left_machines.h"
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
    // The same for a state of one of the template's machines. `conflict` for another template's.
    static boost::asio::awaitable<Result<std::unique_ptr<Machine>>> restore(
        std::shared_ptr<QemuHost> host, CloneSource source, std::filesystem::path run_root,
        WorkerPool& workers, RestoreRequest request);
    // One that an earlier gateway left, with its guest as it is: claimed() tells its kernels. The
    // link begins a new session. On an error the machine is gone.
    static boost::asio::awaitable<Result<std::unique_ptr<Machine>>> adopt(
        std::shared_ptr<QemuHost> host, std::filesystem::path run_root, WorkerPool& workers,
        LeftMachine left);
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
    boost::asio::awaitable<Result<MachineStatePointer>> capture(
        AfterCapture after, std::function<void()> while_stopped) override;
    boost::asio::awaitable<Result<void>> go_on() override;
    std::shared_ptr<link::Link> detach_link() override;
    Result<void> set_note(std::string_view note) override;
    boost::asio::awaitable<void> kill(std::string reason) override;
    void on_exit(ExitHandler handler) override;
    boost::asio::awaitable<Result<MemoryUsage>> memory_usage() override;
    boost::asio::awaitable<std::string> console_tail() override;

  private:
    struct Core;
    explicit QemuMachine(std::shared_ptr<Core> core) : core_(std::move(core)) {}
    static boost::asio::awaitable<Result<std::unique_ptr<Machine>>> start(
        std::shared_ptr<QemuHost> host, CloneSource source, std::filesystem::path run_root,
        WorkerPool& workers, RestoreRequest request);

    std::shared_ptr<Core> core_;
};

// /proc/PID/smaps_rollup. Blocking, milliseconds.
Result<MemoryUsage> read_memory_usage(pid_t pid);

}  // namespace cellblock::vm
