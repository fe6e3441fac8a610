// bench-native-gateway: the gateway's real parts (pool, sandboxes, store, routes, Jupyter door)
// with native kernels in the place of microVMs. It shows what the gateway itself costs, where an
// emulator's jitter of many milliseconds would hide it.
//
// It ISOLATES NOTHING: whoever has its token runs code as the caller. For tests/bench only, never
// installed. Its flags are those of `cellblock serve` where it has them at all.
//
// One thread, like the gateway; composed as gateway/cli/gateway.cc composes it.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "artifacts/store.h"
#include "base/awaitable.h"
#include "base/files.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/spawn.h"
#include "base/worker_pool.h"
#include "gateway/api/service_routes.h"
#include "gateway/api/services.h"
#include "gateway/auth/guard.h"
#include "gateway/auth/token.h"
#include "gateway/executions/execution_table.h"
#include "gateway/http/server.h"
#include "gateway/jobs/jobs.h"
#include "gateway/jupyter/door.h"
#include "gateway/sandboxes/sandbox_manager.h"
#include "gateway/sandboxes/warm_up.h"
#include "tests/bench/native_machine.h"

namespace cellblock::bench {

namespace asio = boost::asio;
using namespace cellblock::gateway;

namespace {

constexpr std::chrono::seconds grace{2};

struct Arguments {
    std::string listen = "127.0.0.1:0";
    std::filesystem::path state;
    NativeHost host;
    int ready_fd = -1;
};

asio::awaitable<Result<std::unique_ptr<vm::Machine>>> refuse_restore(vm::RestoreRequest) {
    co_return fail(ErrorCode::not_supported, "native processes have no states");
}

vm::PoolOptions pool_options() {
    vm::PoolOptions options;
    options.target = 0;  // machines are asked for before anything is timed
    return options;
}

class NativeGateway {
  public:
    explicit NativeGateway(Arguments arguments)
        : arguments_(std::move(arguments)),
          host_(std::make_shared<const NativeHost>(arguments_.host)) {}

    int run() {
        signals_.add(SIGINT);
        signals_.add(SIGTERM);
        if (const auto prepared = prepare(); !prepared) {
            std::fprintf(stderr, "bench-native-gateway: %s\n", prepared.error().text().c_str());
            return 1;
        }
        spawn_logged(loop_.get_executor(), serve_until_signal(), "serve", nullptr);
        loop_.run();
        return 0;
    }

  private:
    Result<void> prepare() {
        CB_TRY(make_directories(arguments_.state, 0700));
        CB_TRY_ASSIGN(token, auth::load_or_create_token(arguments_.state / "token"));
        token_ = std::move(token);
        artifacts::Quotas quotas;
        CB_TRY_ASSIGN(store, artifacts::Store::open(arguments_.state / "artifacts", quotas));
        store_ = std::move(store);
        SandboxManagerOptions sandboxes(pool_, refuse_restore, workers_, arguments_.state);
        sandboxes_ =
            std::make_unique<SandboxManager>(loop_.get_executor(), std::move(sandboxes), metrics_);
        executions_ = std::make_unique<ExecutionTable>(loop_.get_executor(), *store_, workers_,
                                                       arguments_.state / "executions");
        CB_TRY_ASSIGN(nowhere, jobs::CallPolicy::parse({}));
        jobs::JobsOptions jobs;
        jobs.folder = arguments_.state / "jobs";
        jobs_ = std::make_unique<jobs::Jobs>(
            loop_.get_executor(), std::move(jobs), *sandboxes_, *executions_, workers_, metrics_,
            jobs::NotifierOptions{std::move(nowhere), jobs::MailServer()});
        services_ = std::make_unique<api::Services>(
            api::Services{*sandboxes_, *executions_, *jobs_, *store_, workers_, metrics_,
                          SandboxSpec(), limits::execution_timeout_default, token_,
                          auth::LinkSigner(token_), artifacts::GcPolicy()});
        jupyter::Settings settings;
        settings.version = "bench";
        settings.connections_folder = arguments_.state / "connections";
        door_ =
            std::make_unique<jupyter::Door>(loop_.get_executor(), *services_, std::move(settings));
        return make_server();
    }

    Result<void> make_server() {
        http::Router router;
        api::ServiceInfo info;
        info.version = "bench";
        info.details = [] { return Json{{"isolation", "none"}}; };
        api::add_service_routes(router, metrics_, std::move(info));
        api::add_execute_routes(router, *services_);
        api::add_context_routes(router, *services_);
        api::add_sandbox_routes(router, *services_);
        api::add_file_routes(router, *services_);
        api::add_artifact_routes(router, *services_);
        jupyter::add_routes(router, *door_);
        auth::GuardOptions guard;
        guard.token = token_;
        server_ = std::make_unique<http::Server>(
            loop_.get_executor(), http::ServerOptions(), std::move(router),
            std::make_shared<auth::TokenGuard>(std::move(guard)), metrics_, workers_);
        return server_->listen(arguments_.listen);
    }

    asio::awaitable<void> serve_until_signal() {
        auto opened = co_await executions_->open();
        if (opened) {
            std::vector<vm::FoundMachine> none;
            SandboxManager::PrepareKernel nothing = [](const auto&, auto&) {};
            opened = co_await sandboxes_->open(std::move(none), std::move(nothing));
        }
        if (!opened) {
            log::error("start_failed", {{"error", opened.error().text()}});
            loop_.stop();
            co_return;
        }
        server_->start();
        announce();
        (void)co_await signals_.async_wait(as_tuple_awaitable);
        http::Server::LastWords nothing = nullptr;
        co_await server_->shutdown(grace, std::move(nothing));
        co_await pool_.stop();
        co_await sandboxes_->remove_all();
        loop_.stop();
    }

    void announce() {
        const auto endpoint = server_->endpoints().front();
        const std::string url =
            "http://" + endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
        std::printf("NO ISOLATION: kernels are plain processes of this host.\nready %s\ntoken %s\n",
                    url.c_str(), token_.c_str());
        std::fflush(stdout);
        if (arguments_.ready_fd < 0) return;
        (void)write_all(arguments_.ready_fd, "ready " + url + "\n");
        ::close(std::exchange(arguments_.ready_fd, -1));
    }

    Arguments arguments_;
    const std::shared_ptr<const NativeHost> host_;
    std::string token_;
    metrics::Registry metrics_;
    asio::io_context loop_{1};
    WorkerPool workers_;
    asio::signal_set signals_{loop_};
    vm::Pool pool_{loop_.get_executor(), [this] { return NativeMachine::start(host_); }, warm_up,
                   pool_options()};
    std::unique_ptr<artifacts::Store> store_;
    std::unique_ptr<SandboxManager> sandboxes_;
    std::unique_ptr<ExecutionTable> executions_;
    std::unique_ptr<jobs::Jobs> jobs_;
    std::unique_ptr<api::Services> services_;
    std::unique_ptr<jupyter::Door> door_;
    std::unique_ptr<http::Server> server_;
};

}  // namespace
}  // namespace cellblock::bench

int main(int argc, char** argv) {
    using namespace cellblock;
    std::signal(SIGPIPE, SIG_IGN);
    bench::Arguments arguments;
    CLI::App app("The gateway with native kernels, for benchmarks. ISOLATES NOTHING.");
    app.add_option("--listen", arguments.listen, "address and port");
    app.add_option("--state-dir", arguments.state, "token, artifacts, machines")->required();
    app.add_option("--ready-fd", arguments.ready_fd, "gets \"ready URL\" once requests are served");
    app.add_option("--agent", arguments.host.agent, "cellblock-agent")->required();
    app.add_option("--python", arguments.host.python, "that has ipykernel")->required();
    app.add_option("--python-path", arguments.host.python_path, "its PYTHONPATH")->required();
    CLI11_PARSE(app, argc, argv);
    arguments.host.run_root = arguments.state / "run";
    log::set_level(log::Level::warning);
    return bench::NativeGateway(std::move(arguments)).run();
}
