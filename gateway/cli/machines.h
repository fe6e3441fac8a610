// The machines behind `serve`: the template, the warm pool, what an earlier gateway left behind.
//
// Owner: Gateway. Loop thread only.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "gateway/cli/guest_setup.h"
#include "gateway/config/config.h"
#include "vm/pool/pool.h"
#include "vm/qemu/qemu_process.h"
#include "vm/snapshot/template.h"

namespace cellblock::gateway::cli {

class Machines {
  public:
    // `config` and `workers` outlive it.
    Machines(boost::asio::any_io_executor executor, const config::Config& config,
             WorkerPool& workers);

    // Ends what an earlier gateway left, opens or builds the template, begins to fill the pool.
    boost::asio::awaitable<Result<void>> start();
    // Ends the warm machines.
    boost::asio::awaitable<void> stop();

    // After start().
    vm::Pool& pool() { return *pool_; }
    // Starts machines from states of the template's machines. Must not outlive this object.
    vm::MachineRestorer restorer();
    // For GET /version: accelerator and why, isolation tier, image, template, pool.
    Json describe() const;
    // The pool's numbers as gauges.
    void refresh_metrics(metrics::Registry& registry) const;

  private:
    const boost::asio::any_io_executor executor_;
    const config::Config& config_;
    WorkerPool& workers_;
    const std::filesystem::path run_folder_;
    std::shared_ptr<vm::QemuHost> host_;
    vm::TemplateStore templates_;
    GuestSetup setup_;
    std::shared_ptr<const vm::Template> template_;
    std::unique_ptr<vm::Pool> pool_;
};

}  // namespace cellblock::gateway::cli
