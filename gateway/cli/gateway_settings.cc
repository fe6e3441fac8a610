// What the parts of the gateway are made with, of its configuration.
#include <cstdlib>

#include "gateway/cli/gateway.h"

namespace cellblock::gateway::cli {

std::uint64_t Gateway::artifacts_max_bytes() const {
    return static_cast<std::uint64_t>(config_.artifacts_max_mib) * limits::MiB;
}

artifacts::GcPolicy Gateway::retention() const {
    artifacts::GcPolicy policy;
    policy.max_total_bytes = artifacts_max_bytes();
    if (config_.artifacts_keep_days > 0) {
        policy.max_age = std::chrono::days(config_.artifacts_keep_days);
    }
    return policy;
}

jupyter::Settings Gateway::jupyter_settings() const {
    jupyter::Settings settings;
    settings.version = CELLBLOCK_VERSION;
    const bool as_kernel_gateway = config_.compat == "kernel-gateway";
    if (as_kernel_gateway) settings.compat = jupyter::Compat::kernel_gateway;
    const bool listed =
        config_.list_kernels == "auto" ? !as_kernel_gateway : config_.list_kernels == "yes";
    settings.listing = listed ? jupyter::Listing::allowed : jupyter::Listing::forbidden;
    settings.kernels_max = static_cast<std::size_t>(config_.kernels_max);
    settings.idle_timeout = std::chrono::seconds(config_.kernel_idle_timeout_s);
    settings.contents_folder = config_.contents_dir;
    if (config_.cull == "connected") settings.cull = jupyter::Cull::connected;
    if (config_.cull == "busy") settings.cull = jupyter::Cull::busy;
    settings.default_kernel = config_.default_kernel;
    settings.force_kernel = config_.force_kernel;
    settings.environment_allowed = config_.kernel_environment;
    for (const std::string& name : config_.kernel_environment_inherited) {
        if (name == "KG_AUTH_TOKEN" || name == "CELLBLOCK_TOKEN") continue;  // not the guests'
        const char* value = std::getenv(name.c_str());
        if (value != nullptr) settings.environment.emplace(name, value);
    }
    settings.seed = seed_;
    settings.connections_folder = config_.state_directory() / "connections";
    settings.sessions_file = config_.state_directory() / "jupyter_sessions.json";
    settings.relay_command = [this](const std::string& kernel_id,
                                    const std::filesystem::path& file) {
        return relay_command(kernel_id, file);
    };
    return settings;
}

// This program again. Its environment is what it needs and no more.
SpawnOptions Gateway::relay_command(const std::string& kernel_id,
                                    const std::filesystem::path& file) const {
    SpawnOptions options(
        {"/proc/self/exe", "connect", kernel_id, "--output", file.string(), "--gateway", url()});
    options.environment = {{"CELLBLOCK_TOKEN", token_}};
    if (!config_.tls_certificate.empty()) {
        options.environment->emplace("CURL_CA_BUNDLE", config_.tls_certificate);
    }
    return options;
}

Result<void> Gateway::make_jobs() {
    auto policy = jobs::CallPolicy::parse(config_.webhook_hosts);
    if (!policy) return fail(policy.error().in("webhook_hosts"));
    jobs::MailServer mail{config_.smtp_url, config_.smtp_from};
    CB_TRY(jobs::check_mail_server(mail));
    jobs::JobsOptions options;
    options.folder = config_.state_directory() / "jobs";
    options.running_max = static_cast<std::size_t>(config_.jobs_max);
    options.keep_sandbox = std::chrono::seconds(config_.job_keep_s);
    jobs_ = std::make_unique<jobs::Jobs>(
        loop_.get_executor(), std::move(options), *sandboxes_, *executions_, workers_, metrics_,
        jobs::NotifierOptions{std::move(*policy), std::move(mail)});
    return {};
}

}  // namespace cellblock::gateway::cli
