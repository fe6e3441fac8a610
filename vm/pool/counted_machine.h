// A machine that counts: for as long as it lives, and no longer, its Slot is taken.
#pragma once

#include <memory>
#include <utility>

#include "vm/machine/machine.h"
#include "vm/pool/capacity.h"

namespace cellblock::vm {

class CountedMachine final : public Machine {
  public:
    CountedMachine(std::unique_ptr<Machine> machine, Slot slot)
        : slot_(std::make_shared<Slot>(std::move(slot))), machine_(std::move(machine)) {
        // A machine that has ended costs nothing, however long its owner keeps the object.
        machine_->on_exit([slot = slot_](const ExitInfo&) { slot->give_back(); });
    }

    // It costs more from now on.
    void absorb(Slot more) { slot_->absorb(std::move(more)); }

    const std::string& id() const override { return machine_->id(); }
    const MachineInfo& info() const override { return machine_->info(); }
    link::Link& link() override { return machine_->link(); }
    bool alive() const override { return machine_->alive(); }
    void on_stream(StreamHandler handler) override { machine_->on_stream(std::move(handler)); }
    boost::asio::awaitable<Result<void>> rehearse_claim() override {
        return machine_->rehearse_claim();
    }
    boost::asio::awaitable<Result<void>> claim(ClaimRequest request) override {
        return machine_->claim(std::move(request));
    }
    const ClaimReply& claimed() const override { return machine_->claimed(); }
    boost::asio::awaitable<Result<void>> check(std::chrono::milliseconds timeout) override {
        return machine_->check(timeout);
    }
    boost::asio::awaitable<Result<MachineStatePointer>> capture(
        AfterCapture after, std::function<void()> while_stopped) override {
        return machine_->capture(after, std::move(while_stopped));
    }
    boost::asio::awaitable<Result<void>> go_on() override { return machine_->go_on(); }
    std::shared_ptr<link::Link> detach_link() override { return machine_->detach_link(); }
    Result<void> set_note(std::string_view note) override { return machine_->set_note(note); }
    boost::asio::awaitable<void> kill(std::string reason) override {
        return machine_->kill(std::move(reason));
    }
    void on_exit(ExitHandler handler) override { machine_->on_exit(std::move(handler)); }
    boost::asio::awaitable<Result<MemoryUsage>> memory_usage() override {
        return machine_->memory_usage();
    }
    boost::asio::awaitable<std::string> console_tail() override { return machine_->console_tail(); }

  private:
    std::shared_ptr<Slot> slot_;
    std::unique_ptr<Machine> machine_;  // destroyed first: its process is gone before the slot is
};

}  // namespace cellblock::vm
