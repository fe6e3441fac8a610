// A Machine that is none: the guest's agent (`cellblock-agent --root-less`) as a plain process of
// this host, with native kernels, so that what the gateway adds to a kernel can be measured without
// an emulator's jitter.
//
// It ISOLATES NOTHING: what runs in it runs as the caller. For tests/bench, never installed. It can
// not be captured, restored or moved.
//
// Owner: as any Machine's. Loop thread only. The destructor ends the agent, which ends its kernels.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "vm/machine/machine.h"

namespace cellblock::bench {

struct NativeHost {
    std::filesystem::path agent;
    std::string python;              // an interpreter that has ipykernel
    std::string python_path;         // PYTHONPATH: where cellblock_kernel and its sisters are
    std::filesystem::path run_root;  // short: sockets are below it

    NativeHost() = default;
};

class NativeMachine final : public vm::Machine {
  public:
    // Resumes when the agent has answered and the first kernel has run a cell.
    static boost::asio::awaitable<Result<std::unique_ptr<vm::Machine>>> start(
        std::shared_ptr<const NativeHost> host);
    ~NativeMachine() override;

    const std::string& id() const override;
    const vm::MachineInfo& info() const override;
    vm::link::Link& link() override;
    bool alive() const override;
    void on_stream(StreamHandler handler) override;
    boost::asio::awaitable<Result<void>> rehearse_claim() override;
    boost::asio::awaitable<Result<void>> claim(vm::ClaimRequest request) override;
    const vm::ClaimReply& claimed() const override;
    Result<void> set_note(std::string_view note) override;
    boost::asio::awaitable<Result<void>> check(std::chrono::milliseconds timeout) override;
    boost::asio::awaitable<Result<vm::MachineStatePointer>> capture(
        vm::AfterCapture after, std::function<void()> while_stopped) override;
    boost::asio::awaitable<Result<void>> go_on() override;
    std::shared_ptr<vm::link::Link> detach_link() override;
    boost::asio::awaitable<void> kill(std::string reason) override;
    void on_exit(ExitHandler handler) override;
    boost::asio::awaitable<Result<vm::MemoryUsage>> memory_usage() override;
    boost::asio::awaitable<std::string> console_tail() override;

  private:
    struct Core;
    explicit NativeMachine(std::shared_ptr<Core> core) : core_(std::move(core)) {}

    std::shared_ptr<Core> core_;
};

}  // namespace cellblock::bench
