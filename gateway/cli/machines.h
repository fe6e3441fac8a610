// The machines behind `serve`: the template, the warm pool, what an earlier gateway left behind,
// and the change to emulation when KVM turns out to be broken.
//
// Owner: Gateway. Loop thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/host_memory.h"
#include "base/json.h"
#include "base/metrics.h"
#include "base/progress.h"
#include "base/worker_pool.h"
#include "gateway/cli/guest_setup.h"
#include "gateway/config/config.h"
#include "vm/pool/memory_watch.h"
#include "vm/pool/pool.h"
#include "vm/qemu/left_machines.h"
#include "vm/qemu/qemu_process.h"
#include "vm/snapshot/template.h"

namespace cellblock::gateway::cli {

class Machines {
  public:
    // `tell` hears each step of a template that is built. It and the references outlive this
    // object.
    Machines(boost::asio::any_io_executor executor, const config::Config& config,
             WorkerPool& workers, ProgressSink tell);

    // Finds what an earlier gateway left, ends what nobody can go on with, opens or builds the
    // template. Machines can be had from then on.
    boost::asio::awaitable<Result<void>> start();
    // Those that somebody may go on with; once, after start().
    std::vector<vm::FoundMachine> take_found();
    // Begins to fill the pool.
    void fill_pool();
    // Until it is cancelled: logs when the host's memory gets short, and when that is over.
    boost::asio::awaitable<void> watch_memory();
    // Ends the warm machines.
    boost::asio::awaitable<void> stop();

    // After start().
    const vm::Image& image() const { return setup_.image; }
    // Hands out machines only after start().
    vm::Pool& pool() { return pool_; }
    // Starts machines from states of the template's machines. Must not outlive this object.
    vm::MachineRestorer restorer();
    // For GET /version: accelerator and why, isolation tier, image, template, pool.
    Json describe() const;
    // The pool's numbers as gauges.
    void refresh_metrics(metrics::Registry& registry) const;

  private:
    // Setup and template for the accelerator of this moment.
    boost::asio::awaitable<Result<void>> prepare();
    void hold_machines_together();
    // Whether `error` of a start says that KVM, which nobody insisted on, cannot run guests.
    bool shows_broken_kvm(const Error& error) const;
    // Records it for this boot of the host and prepares again, which now chooses emulation.
    boost::asio::awaitable<Result<void>> give_up_kvm(std::string why);
    // As give_up_kvm() while serving: once, in the background, and the pool follows.
    void change_to_emulation(std::string why);
    boost::asio::awaitable<void> change(std::string why);
    boost::asio::awaitable<Result<std::unique_ptr<vm::Machine>>> start_machine();
    vm::MachineStarter starter();
    vm::FoundMachine found(vm::LeftMachine left);
    void tell(vm::MemoryNews news, const HostMemory& memory) const;

    const boost::asio::any_io_executor executor_;
    const config::Config& config_;
    WorkerPool& workers_;
    const ProgressSink tell_;
    const std::filesystem::path run_folder_;
    std::shared_ptr<vm::QemuHost> host_;
    vm::TemplateStore templates_;
    GuestSetup setup_;
    std::shared_ptr<const vm::Template> template_;
    std::vector<vm::LeftMachine> left_;
    vm::Pool pool_;
    vm::MemoryWatch memory_watch_;
    bool changing_ = false;  // KVM broke, the emulated template is being made
    // Machines tell of their end by handlers that may outlive this object.
    std::shared_ptr<Machines*> self_ = std::make_shared<Machines*>(this);
};

}  // namespace cellblock::gateway::cli
