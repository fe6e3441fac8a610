// The composition root of `cellblock serve`: builds the parts, runs the loop, takes it down.
//
// Loop thread = main thread. Order of destruction is the reverse of the members.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "base/error.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "gateway/config/config.h"
#include "gateway/http/server.h"

namespace cellblock::gateway::cli {

class Gateway {
  public:
    // `ready_fd`: gets "ready URL\n" and is closed once requests are served; -1: none.
    Gateway(config::Config config, int ready_fd);
    ~Gateway();

    // Until SIGTERM or SIGINT. The process's exit code.
    int run();

  private:
    Result<void> prepare();
    void announce(const std::string& token);
    boost::asio::awaitable<void> wait_for_signal();

    const config::Config config_;
    int ready_fd_;
    boost::asio::io_context loop_{1};
    metrics::Registry metrics_;
    WorkerPool workers_;
    boost::asio::signal_set signals_{loop_};
    std::unique_ptr<http::Server> server_;
};

}  // namespace cellblock::gateway::cli
