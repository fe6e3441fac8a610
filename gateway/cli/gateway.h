// The composition root of `cellblock serve`: builds the parts, runs the loop, takes it down.
//
// Loop thread = main thread. Order of destruction is the reverse of the members.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "artifacts/store.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/process.h"
#include "base/worker_pool.h"
#include "gateway/api/services.h"
#include "gateway/auth/admission.h"
#include "gateway/cli/machines.h"
#include "gateway/config/config.h"
#include "gateway/http/readiness.h"
#include "gateway/http/server.h"
#include "gateway/jobs/jobs.h"
#include "gateway/jupyter/door.h"
#include "gateway/jupyter/notebook_service.h"
#include "gateway/sandboxes/sandbox_manager.h"

namespace cellblock::gateway::cli {

class Gateway {
  public:
    // `ready_fd`: gets "ready URL\n" and is closed once requests are served; -1: none.
    Gateway(config::Config config, int ready_fd);
    ~Gateway();

    // Until SIGTERM or SIGINT. The process's exit code.
    int run();

  private:
    // What fails early: folders, token, certificate, port, artifact store.
    Result<void> prepare();
    Result<void> prepare_admission(const boost::asio::ip::address& address);
    bool token_is_given() const;
    Result<void> read_seed();
    Result<void> make_server();
    Result<void> make_jobs();
    // All that is served, but for a notebook's API.
    void add_routes(http::Router& router);
    Result<void> serve(http::Router router);
    boost::asio::awaitable<Result<void>> start_notebook();
    jupyter::Settings jupyter_settings() const;
    SpawnOptions relay_command(const std::string& kernel_id,
                               const std::filesystem::path& file) const;
    std::string url() const;
    // What takes time: the template, then serving.
    boost::asio::awaitable<void> bring_up();
    boost::asio::awaitable<void> wait_for_signal();
    boost::asio::awaitable<void> take_down();
    boost::asio::awaitable<void> end_sandboxes();
    // What an earlier gateway left, which goes on here.
    boost::asio::awaitable<Result<void>> take_over();
    boost::asio::awaitable<void> hand_over();
    boost::asio::awaitable<void> tidy_store();
    std::uint64_t artifacts_max_bytes() const;
    artifacts::GcPolicy retention() const;
    void announce();

    const config::Config config_;
    int ready_fd_;
    int exit_code_ = 0;
    bool handed_over_ = false;
    auth::Admission admission_ = auth::Admission::with_token;
    std::string token_;  // never empty
    std::vector<std::string> seed_;
    std::optional<jupyter::NotebookApi> notebook_api_;  // until the service has it
    metrics::Registry metrics_;  // before the loop, whose last coroutines may still count
    boost::asio::io_context loop_{1};
    WorkerPool workers_;
    boost::asio::signal_set signals_{loop_};
    boost::asio::steady_timer tidy_timer_{loop_};
    http::Readiness readiness_;
    std::unique_ptr<artifacts::Store> store_;
    std::unique_ptr<Machines> machines_;
    std::unique_ptr<SandboxManager> sandboxes_;
    std::unique_ptr<ExecutionTable> executions_;
    std::unique_ptr<jobs::Jobs> jobs_;
    std::unique_ptr<api::Services> services_;
    std::unique_ptr<jupyter::Door> jupyter_;
    std::unique_ptr<jupyter::NotebookService> notebook_;  // null: the whole gateway is served
    std::unique_ptr<http::Server> server_;
};

}  // namespace cellblock::gateway::cli
