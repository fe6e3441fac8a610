// The guest agent: owns every part and runs the link, one connection after the other, for ever.
//
// One loop thread owns all state; file work is on the worker pool. Members are in the order of
// their dependence: what comes later uses what comes before.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <zmq.hpp>

#include "base/worker_pool.h"
#include "vm/agent/boot.h"
#include "vm/agent/events.h"
#include "vm/agent/kernel_table.h"
#include "vm/agent/options.h"
#include "vm/agent/port.h"
#include "vm/agent/reaper.h"
#include "vm/agent/zygote.h"
#include "vm/link/call.h"
#include "vm/link/link.h"

namespace cellblock::vm::agent {

inline constexpr std::string_view agent_version = "0.1.0";

class Agent {
  public:
    Agent(boost::asio::io_context& loop, Options options, BootReport report);
    ~Agent();
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    // Opens the port and starts all coroutines; the rest happens in loop.run().
    Result<void> start();
    // Ends them (rootless only: PID 1 never does).
    void stop();

    // For the call handlers (calls.cc).
    const Options& options() const { return options_; }
    const BootReport& report() const { return report_; }
    Cgroups* cgroups() { return report_.cgroups ? &*report_.cgroups : nullptr; }
    KernelTable& kernels() { return kernels_; }
    Zygote& zygote() { return zygote_; }
    WorkerPool& workers() { return workers_; }
    Reaper& reaper() { return reaper_; }
    link::Link& link() { return link_; }

  private:
    boost::asio::awaitable<void> serve();
    void take_stream(link::StreamPtr stream);
    void take_kernel_stream(link::StreamPtr stream);

    boost::asio::io_context& loop_;
    Options options_;
    BootReport report_;
    zmq::context_t zmq_;
    WorkerPool workers_;
    Reaper reaper_;
    Zygote zygote_;
    Events events_;
    KernelTable kernels_;
    link::CallServer calls_;
    link::Link link_;
    std::unique_ptr<Port> port_;
    bool stopped_ = false;
};

// calls.cc: every method of the `call` streams.
void add_calls(link::CallServer& server, Agent& agent);

}  // namespace cellblock::vm::agent
