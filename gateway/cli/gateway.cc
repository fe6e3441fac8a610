#include "gateway/cli/gateway.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/awaitable.h"
#include "base/files.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/api/chat_page.h"
#include "gateway/api/service_routes.h"
#include "gateway/auth/guard.h"
#include "gateway/auth/token.h"
#include "gateway/cli/command.h"
#include "gateway/cli/guest_setup.h"
#include "gateway/config/kernel_gateway.h"
#include "gateway/jupyter/seed.h"

namespace cellblock::gateway::cli {

namespace asio = boost::asio;

namespace {
// How often artifacts past their time, or past the room for all, are looked for.
constexpr std::chrono::seconds tidy_interval{60};
// Executions whose sandboxes have ended are written to their ends.
constexpr std::chrono::seconds last_words{2};
}  // namespace

Gateway::Gateway(config::Config config, int ready_fd)
    : config_(std::move(config)),
      ready_fd_(ready_fd),
      readiness_(loop_.get_executor(), std::chrono::seconds(config_.start_wait_s)) {}

Gateway::~Gateway() = default;

Result<void> Gateway::prepare() {
    CB_TRY_ASSIGN(endpoint, http::check_listen(loop_.get_executor(), config_.listen));
    CB_TRY(make_directories(config_.state_directory(), 0700));
    CB_TRY(prepare_admission(endpoint.address()));
    CB_TRY(read_seed());
    artifacts::Quotas quotas;
    // A tenth above what tidying leaves, so that a busy minute is not refused.
    quotas.bytes_per_tenant_max = artifacts_max_bytes() / 10 * 11;
    CB_TRY_ASSIGN(store, artifacts::Store::open(config_.state_directory() / "artifacts", quotas));
    store_ = std::move(store);
    machines_ = std::make_unique<Machines>(
        loop_.get_executor(), config_, workers_,
        [this](const Progress& now) { readiness_.doing("building the template: " + now.step); });
    return {};
}

Result<void> Gateway::prepare_admission(const asio::ip::address& address) {
    auth::AdmissionWish wish;
    wish.without_token = config_.insecure_no_token == "yes";
    wish.token = config_.token;
    for (const auto* names : {&config_.allowed_hosts, &config_.allowed_origins}) {
        if (std::find(names->begin(), names->end(), "*") != names->end()) wish.for_any_site = true;
    }
    if (address.is_loopback()) wish.reach = auth::Reach::this_machine;
    const auth::AdmissionDecision decision = auth::decide_admission(wish);
    admission_ = decision.admission;
    if (!decision.reason.empty()) {
        log::warning("admission", {{"listen", config_.listen}, {"reason", decision.reason}});
    }
    // Where nobody is asked for it, it still signs links.
    if (token_is_given()) {
        token_ = *config_.token;
    } else {
        CB_TRY_ASSIGN(token, auth::load_or_create_token(config_.token_path()));
        token_ = std::move(token);
    }
    return {};
}

bool Gateway::token_is_given() const {
    return config_.token && !config_.token->empty();
}

Result<void> Gateway::read_seed() {
    if (config_.seed_notebook.empty()) return {};
    CB_TRY_ASSIGN(text, read_file(config_.seed_notebook, limits::http_json_body_max_bytes));
    CB_TRY_ASSIGN(cells, jupyter::seed_cells(text));
    seed_ = std::move(cells);
    if (!config_.serves_notebook()) return {};
    const std::string title = std::filesystem::path(config_.seed_notebook).stem().string();
    CB_TRY_ASSIGN(api, jupyter::notebook_api(seed_, title));
    seed_ = api.setup;
    notebook_api_ = std::move(api);
    return {};
}

// What a crash left goes once; then, again and again, what is past its time or the room for all.
asio::awaitable<void> Gateway::tidy_store() {
    auto clean = [store = store_.get()] { return store->clean_up(); };
    if (const auto cleaned = co_await workers_.run(std::move(clean)); !cleaned) {
        log::warning("artifact_clean_up_failed", {{"error", cleaned.error().text()}});
    }
    while (true) {
        auto collect = [store = store_.get(), policy = retention()] { return store->gc(policy); };
        const auto removed = co_await workers_.run(std::move(collect));
        if (!removed) {
            log::warning("artifact_gc_failed", {{"error", removed.error().text()}});
        } else if (*removed > 0) {
            log::info("artifacts_removed", {{"count", *removed}, {"reason", "retention"}});
        }
        tidy_timer_.expires_after(tidy_interval);
        const auto [ec] = co_await tidy_timer_.async_wait(as_tuple_awaitable);
        if (ec) co_return;
    }
}

namespace {

jupyter::Kernelspecs offered_kernels(const vm::Image& image) {
    std::map<std::string, jupyter::OfferedKernel> others;
    for (const auto& [name, spec] : image.kernelspecs) {
        jupyter::OfferedKernel& kernel = others[name];
        kernel.display_name = spec.display_name;
        kernel.language = spec.language;
        kernel.environment = spec.environment;
        kernel.launch.argv = spec.argv;
        if (spec.interrupt_mode == "message") {
            kernel.launch.interrupt_mode = kernel_proxy::InterruptMode::message;
        }
    }
    return jupyter::Kernelspecs(std::move(others));
}

}  // namespace

Result<void> Gateway::make_server() {
    SandboxManagerOptions sandboxes(machines_->pool(), machines_->restorer(), workers_,
                                    config_.state_directory());
    sandboxes_ =
        std::make_unique<SandboxManager>(loop_.get_executor(), std::move(sandboxes), metrics_);
    executions_ = std::make_unique<ExecutionTable>(loop_.get_executor(), *store_, workers_,
                                                   config_.state_directory() / "executions");
    CB_TRY(make_jobs());
    SandboxSpec defaults;
    defaults.memory_limit_bytes =
        static_cast<std::size_t>(config_.sandbox_memory_mib) * limits::MiB;
    defaults.timeout = std::chrono::seconds(config_.sandbox_timeout_s);
    services_ = std::make_unique<api::Services>(
        api::Services{*sandboxes_, *executions_, *jobs_, *store_, workers_, metrics_,
                      std::move(defaults), std::chrono::seconds(config_.execution_timeout_s),
                      token_, auth::LinkSigner(token_), retention()});

    jupyter_ =
        std::make_unique<jupyter::Door>(loop_.get_executor(), *services_, jupyter_settings());
    http::Router router;
    if (notebook_api_) {
        notebook_ = std::make_unique<jupyter::NotebookService>(loop_.get_executor(), *jupyter_,
                                                               std::move(*notebook_api_));
        notebook_->add_routes(router);
    } else {
        add_routes(router);
    }
    return serve(std::move(router));
}

void Gateway::add_routes(http::Router& router) {
    api::ServiceInfo info;
    info.version = CELLBLOCK_VERSION;
    info.ready = [this] { return readiness_.check(); };
    info.details = [this] { return machines_->describe(); };
    info.refresh_metrics = [this] { machines_->refresh_metrics(metrics_); };
    api::add_service_routes(router, metrics_, std::move(info));
    api::add_execute_routes(router, *services_);
    api::add_execution_routes(router, *services_);
    api::add_context_routes(router, *services_);
    api::add_sandbox_routes(router, *services_);
    api::add_sandbox_state_routes(router, *services_);
    api::add_job_routes(router, *services_);
    api::add_file_routes(router, *services_);
    api::add_artifact_routes(router, *services_);
    api::add_chat_page_routes(router, workers_, chat_folder(config_));
    jupyter::add_routes(router, *jupyter_);
}

Result<void> Gateway::serve(http::Router router) {
    http::ServerOptions options;
    options.connections_max = static_cast<std::size_t>(config_.connections_max);
    options.readiness = &readiness_;
    if (config_.compat == "kernel-gateway") {
        options.unknown_path_style = http::ErrorStyle::kernel_gateway;
    }
    if (!config_.tls_certificate.empty()) {
        CB_TRY_ASSIGN(tls, http::TlsContext::load(config_.tls_certificate, config_.tls_key));
        options.tls = std::move(tls);
    }
    auth::GuardOptions guard;
    guard.admission = admission_;
    guard.token = token_;
    guard.allowed_hosts = config_.allowed_hosts;
    guard.allowed_origins = config_.allowed_origins;
    server_ = std::make_unique<http::Server>(
        loop_.get_executor(), std::move(options), std::move(router),
        std::make_shared<auth::TokenGuard>(std::move(guard)), metrics_, workers_);
    return server_->listen(config_.listen);
}

asio::awaitable<void> Gateway::bring_up() {
    // First, so that a taken port is told before a minute went into a template, and clients that
    // come early are told what they wait for.
    auto started = make_server();
    if (started) {
        readiness_.doing("looking at what an earlier gateway left");
        server_->start();
        started = co_await machines_->start();
    }
    readiness_.doing("going on with the sandboxes of an earlier gateway");
    if (started) started = co_await take_over();
    if (started) started = co_await jobs_->open();
    if (started && notebook_) started = co_await start_notebook();
    if (!started) {
        log::error("start_failed", {{"error", started.error().text()}});
        exit_code_ = report(started.error());
        co_await take_down();
        co_return;
    }
    co_await jupyter_->open();
    machines_->fill_pool();
    jupyter_->offer(offered_kernels(machines_->image()));
    readiness_.ready();
    spawn_logged(loop_.get_executor(), machines_->watch_memory(), "watch_memory", nullptr);
    if (!notebook_) {
        spawn_logged(loop_.get_executor(), jupyter_->cull_kernels(), "cull_kernels", nullptr);
    }
    announce();
}

asio::awaitable<Result<void>> Gateway::take_over() {
    CB_CO_TRY(co_await executions_->open());
    SandboxManager::PrepareKernel prepare = [this](const std::string& context_id,
                                                   kernel_proxy::KernelImage& image) {
        executions_->prepare(context_id, image);
    };
    auto found = machines_->take_found();
    CB_CO_TRY(co_await sandboxes_->open(std::move(found), std::move(prepare)));
    executions_->resume(*sandboxes_);
    co_return Result<void>();
}

asio::awaitable<Result<void>> Gateway::start_notebook() {
    // An earlier gateway's kernels may have been in the middle of a request.
    co_await end_sandboxes();
    const std::size_t kernels =
        static_cast<std::size_t>(std::max<std::int64_t>(1, config_.pool_size));
    const auto started = co_await notebook_->start(kernels);
    if (!started) co_return fail(started.error().in("starting the notebook's kernels"));
    co_return Result<void>();
}

std::string Gateway::url() const {
    const auto endpoint = server_->endpoints().front();
    const auto address = endpoint.address();
    std::string host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
    if (address.is_unspecified()) host = "localhost";
    const std::string scheme = config_.tls_certificate.empty() ? "http" : "https";
    return scheme + "://" + host + ":" + std::to_string(endpoint.port());
}

void Gateway::announce() {
    const std::string url = this->url();
    log::info("serving", {{"url", url}, {"state_dir", config_.state_directory().string()}});
    // For the person who started it; the log never has the token. Who gave one knows it.
    const bool shows_token = admission_ == auth::Admission::with_token && !token_is_given();
    const std::string query = shows_token ? "/?token=" + token_ : "/";
    std::fprintf(stdout, "Cellblock is ready at %s%s\n", url.c_str(), query.c_str());
    std::fflush(stdout);
    if (config_.compat == "kernel-gateway") {
        // Programs that start a kernel gateway wait for these words and take the port from them.
        std::fprintf(stderr, "Jupyter Kernel Gateway %s (Cellblock) is available at %s\n",
                     std::string(config::kernel_gateway_version).c_str(), url.c_str());
    }
    if (ready_fd_ >= 0) {
        const auto told = write_all(ready_fd_, "ready " + url + "\n");
        if (!told) log::warning("ready_fd_failed", {{"error", told.error().text()}});
        ::close(std::exchange(ready_fd_, -1));
    }
}

asio::awaitable<void> Gateway::wait_for_signal() {
    const auto [ec, number] = co_await signals_.async_wait(as_tuple_awaitable);
    if (ec) co_return;
    const bool keep = number == SIGUSR2 || config_.on_shutdown == "keep";
    log::info("stopping", {{"signal", number},
                           {"sandboxes", keep ? "keep" : "end"},
                           {"grace_s", config_.shutdown_grace_s}});
    // A second signal ends the process at once.
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    signals_.clear();
    if (keep) {
        co_await hand_over();
    } else {
        co_await take_down();
    }
}

// Cells that still run end with SandboxGone, which their callers read before the connection ends.
asio::awaitable<void> Gateway::end_sandboxes() {
    if (sandboxes_) co_await sandboxes_->remove_all();
}

// A crash that we choose: whatever outlives that outlives this. Warm machines are of no use to the
// next gateway.
asio::awaitable<void> Gateway::hand_over() {
    co_await machines_->stop();
    handed_over_ = true;
    log::info("stopped", {{"sandboxes", "kept"}});
    loop_.stop();
}

asio::awaitable<void> Gateway::take_down() {
    readiness_.give_up();
    if (notebook_) notebook_->stop();
    if (server_) {
        http::Server::LastWords end_streams = [this] { return end_sandboxes(); };
        co_await server_->shutdown(std::chrono::seconds(config_.shutdown_grace_s),
                                   std::move(end_streams));
    }
    // The pool first: a machine that is being started for somebody becomes a sandbox or ends.
    co_await machines_->stop();
    co_await end_sandboxes();
    if (executions_)
        co_await executions_->wait_ended(std::chrono::steady_clock::now() + last_words);
    if (jobs_) co_await jobs_->settle();
    tidy_timer_.cancel();
    log::info("stopped");
    loop_.stop();
}

int Gateway::run() {
    boost::system::error_code ec;
    signals_.add(SIGINT, ec);
    signals_.add(SIGTERM, ec);
    signals_.add(SIGUSR2, ec);
    if (const auto prepared = prepare(); !prepared) {
        log::error("start_failed", {{"error", prepared.error().text()}});
        return report(prepared.error());
    }
    spawn_logged(loop_.get_executor(), wait_for_signal(), "wait_for_signal", nullptr);
    spawn_logged(loop_.get_executor(), bring_up(), "bring_up", nullptr);
    spawn_logged(loop_.get_executor(), tidy_store(), "tidy_store", nullptr);
    loop_.run();
    // Without taking anything down: the machines live on.
    if (handed_over_) {
        std::_Exit(exit_code_);
    }
    return exit_code_;
}

}  // namespace cellblock::gateway::cli
