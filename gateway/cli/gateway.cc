#include "gateway/cli/gateway.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/files.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/api/service_routes.h"
#include "gateway/auth/guard.h"
#include "gateway/auth/token.h"
#include "gateway/cli/command.h"

namespace cellblock::gateway::cli {

namespace asio = boost::asio;

Gateway::Gateway(config::Config config, int ready_fd)
    : config_(std::move(config)), ready_fd_(ready_fd) {}

Gateway::~Gateway() = default;

Result<void> Gateway::prepare() {
    CB_TRY(make_directories(config_.state_directory(), 0700));
    CB_TRY_ASSIGN(token, auth::load_or_create_token(config_.token_path()));

    http::ServerOptions options;
    options.connections_max = static_cast<std::size_t>(config_.connections_max);
    if (!config_.tls_certificate.empty()) {
        CB_TRY_ASSIGN(tls, http::TlsContext::load(config_.tls_certificate, config_.tls_key));
        options.tls = std::move(tls);
    }
    auth::GuardOptions guard;
    guard.token = token;
    guard.allowed_hosts = config_.allowed_hosts;
    guard.allowed_origins = config_.allowed_origins;

    http::Router router;
    api::ServiceInfo info;
    info.version = CELLBLOCK_VERSION;
    api::add_service_routes(router, metrics_, std::move(info));

    server_ = std::make_unique<http::Server>(
        loop_.get_executor(), std::move(options), std::move(router),
        std::make_shared<auth::TokenGuard>(std::move(guard)), metrics_, workers_);
    CB_TRY(server_->listen(config_.listen));
    server_->start();
    announce(token);
    return {};
}

void Gateway::announce(const std::string& token) {
    const auto endpoint = server_->endpoints().front();
    const auto address = endpoint.address();
    std::string host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
    if (address.is_unspecified()) host = "localhost";
    const std::string scheme = config_.tls_certificate.empty() ? "http" : "https";
    const std::string url = scheme + "://" + host + ":" + std::to_string(endpoint.port());
    log::info("serving", {{"url", url}, {"state_dir", config_.state_directory().string()}});
    // For the person who started it; the log never has the token.
    std::fprintf(stdout, "Cellblock is ready at %s/?token=%s\n", url.c_str(), token.c_str());
    std::fflush(stdout);
    if (ready_fd_ >= 0) {
        const auto told = write_all(ready_fd_, "ready " + url + "\n");
        if (!told) log::warning("ready_fd_failed", {{"error", told.error().text()}});
        ::close(std::exchange(ready_fd_, -1));
    }
}

asio::awaitable<void> Gateway::wait_for_signal() {
    const auto [ec, number] = co_await signals_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (ec) co_return;
    log::info("stopping", {{"signal", number}, {"grace_s", config_.shutdown_grace_s}});
    // A second signal ends the process at once.
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    signals_.clear();
    co_await server_->shutdown(std::chrono::seconds(config_.shutdown_grace_s));
    log::info("stopped");
    loop_.stop();
}

int Gateway::run() {
    boost::system::error_code ec;
    signals_.add(SIGINT, ec);
    signals_.add(SIGTERM, ec);
    if (const auto prepared = prepare(); !prepared) {
        log::error("start_failed", {{"error", prepared.error().text()}});
        return report(prepared.error());
    }
    spawn_logged(loop_.get_executor(), wait_for_signal(), "wait_for_signal", nullptr);
    loop_.run();
    return exit_success;
}

}  // namespace cellblock::gateway::cli
