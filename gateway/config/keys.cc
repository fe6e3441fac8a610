// The table of keys: the only place that knows their names and what they mean.
#include <algorithm>
#include <array>

#include "gateway/config/config.h"

namespace cellblock::gateway::config {
namespace {

constexpr std::array<std::string_view, 4> log_levels = {"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 3> accelerators = {"auto", "kvm", "tcg"};

constexpr std::array<std::string_view, 2> yes_or_no = {"no", "yes"};
constexpr std::array<std::string_view, 2> compats = {"jupyter-server", "kernel-gateway"};
constexpr std::array<std::string_view, 2> apis = {"jupyter", "notebook-http"};
constexpr std::array<std::string_view, 3> listings = {"auto", "yes", "no"};
constexpr std::array<std::string_view, 2> on_shutdowns = {"end", "keep"};
constexpr std::array<std::string_view, 3> culls = {"unused", "connected", "busy"};

constexpr std::int64_t many = 1'000'000;

const std::array config_keys = {
    Key{"listen", &Config::listen,
        "Address and port to listen on. Other machines reach the gateway only if this is not a "
        "loopback address; then use TLS as well."},
    Key{"state_dir", &Config::state_dir,
        "Folder for the database, artifacts, sockets and the token. Empty: "
        "$XDG_STATE_HOME/cellblock, or /var/lib/cellblock for root."},
    Key{"cache_dir", &Config::cache_dir,
        "Folder for guest images and templates, which can be rebuilt. Empty: "
        "$XDG_CACHE_HOME/cellblock, or /var/cache/cellblock for root."},
    Key{"token_file", &Config::token_file,
        "File with the token that clients must send; made at the first start. Empty: token in "
        "state_dir."},
    Key{"insecure_no_token", &Config::insecure_no_token,
        "yes: clients need no token, so that every user and program of this machine may do "
        "everything. Taken only on a loopback address, and not where \"*\" allows all hosts or "
        "origins.",
        0, 0, yes_or_no},
    Key{"tls_certificate", &Config::tls_certificate,
        "PEM file with the server's certificate chain. With it, and tls_key, the gateway speaks "
        "https."},
    Key{"tls_key", &Config::tls_key, "PEM file with the private key of tls_certificate."},
    Key{"allowed_hosts", &Config::allowed_hosts,
        "Names under which clients may call the gateway, besides localhost and IP addresses: "
        "\"box.example.org\", \"*.example.org\", or \"*\" for any."},
    Key{"allowed_origins", &Config::allowed_origins,
        "Web origins whose pages may call the gateway: \"https://app.example.org\", or \"*\" for "
        "any."},
    Key{"connections_max", &Config::connections_max,
        "Connections open at once; more are turned away with 503.", 1, 100'000},
    Key{"shutdown_grace_s", &Config::shutdown_grace_s,
        "Seconds that running requests get to finish when the gateway is stopped.", 0, 3600},
    Key{"on_shutdown", &Config::on_shutdown,
        "What becomes of running sandboxes when the gateway is stopped: end; or keep, for the next "
        "gateway with the same state_dir to go on with (an upgrade). SIGUSR2 stops it and keeps.",
        0, 0, on_shutdowns},
    Key{"log_level", &Config::log_level, "Least important line to log.", 0, 0, log_levels},
    Key{"log_file", &Config::log_file,
        "File to append the log to, one JSON object a line. Empty: standard error."},
    Key{"accelerator", &Config::accelerator,
        "How guests run: kvm, tcg (software, much slower, no KVM needed), or auto, which tests "
        "whether KVM really works.",
        0, 0, accelerators},
    Key{"image", &Config::image,
        "Recipe of the guest image: science (data-analysis libraries) or base (Debian packages "
        "only)."},
    Key{"template_memory_mib", &Config::template_memory_mib,
        "RAM of a guest machine in MiB: the most that any sandbox can get. What a sandbox does not "
        "touch costs nothing.",
        512, 65'536},
    Key{"pool_size", &Config::pool_size,
        "Running machines kept ready, so that a new sandbox starts at once. With api "
        "notebook-http: "
        "kernels that answer requests, at least one.",
        0, 1000},
    Key{"sandboxes_max", &Config::sandboxes_max, "Sandboxes alive at once.", 1, 10'000},
    Key{"start_wait_s", &Config::start_wait_s,
        "Seconds that the start of a sandbox waits for room, of machines or of memory, before it "
        "is refused.",
        0, 3600},
    Key{"memory_overcommit_percent", &Config::memory_overcommit_percent,
        "How much of the host's memory may be promised to sandboxes, by the sum of their limits: "
        "100 promises what there is; an idle sandbox uses a tenth of its limit.",
        10, 10'000},
    Key{"host_memory_reserve_mib", &Config::host_memory_reserve_mib,
        "MiB of the host's memory that stay available: with less nothing new starts. 0: a "
        "twentieth of it, 512 at least.",
        0, many},
    Key{"sandbox_memory_mib", &Config::sandbox_memory_mib,
        "Memory limit of a sandbox in MiB, unless its creator asks for another.", 128, 65'536},
    Key{"sandbox_timeout_s", &Config::sandbox_timeout_s,
        "Seconds that a sandbox lives, unless its creator asks for another time or extends it.", 1,
        many},
    Key{"execution_timeout_s", &Config::execution_timeout_s,
        "Seconds that a cell may run, unless its request asks for another time.", 1, 86'400},
    Key{"compat", &Config::compat,
        "Whose manners the Jupyter API has: jupyter-server, or kernel-gateway (its error bodies, "
        "401 "
        "without a token everywhere, kernels are not listed).",
        0, 0, compats},
    Key{"list_kernels", &Config::list_kernels,
        "Whether GET /api/kernels and /api/sessions list. Auto: yes for jupyter-server, no for "
        "kernel-gateway. JupyterLab's --gateway-url needs it.",
        0, 0, listings},
    Key{"kernels_max", &Config::kernels_max,
        "Kernels at once that the Jupyter API lets start, with those that others have made. 0: as "
        "many as there may be sandboxes.",
        0, 100'000},
    Key{"kernel_idle_timeout_s", &Config::kernel_idle_timeout_s,
        "Seconds without use after which a kernel that Jupyter made is ended. 0: never.", 0, many},
    Key{"cull", &Config::cull,
        "Which kernels kernel_idle_timeout_s may end: unused (idle, no client connected), "
        "connected "
        "(idle), or busy (any).",
        0, 0, culls},
    Key{"contents_dir", &Config::contents_dir,
        "Folder of this machine that /api/contents serves to Jupyter clients, to read and to "
        "write. Empty: none."},
    Key{"jobs_max", &Config::jobs_max,
        "Jobs that run at once: cells that went on after their caller was let go. Each has a "
        "sandbox of its own.",
        0, 10'000},
    Key{"job_keep_s", &Config::job_keep_s,
        "Seconds that a job's sandbox is kept after its end, for its state to be adopted.", 1,
        many},
    Key{"webhook_hosts", &Config::webhook_hosts,
        "Hosts that webhooks may call: names (\"hooks.example.org\", \"*.example.org\"), addresses "
        "and ranges (\"10.0.0.0/8\"), and \"*\" for every public address. Loopback and private "
        "addresses only by name, address or range. Empty: none."},
    Key{"smtp_url", &Config::smtp_url,
        "Mail server for e-mails about jobs: \"smtp://host:25\" or "
        "\"smtps://user:password@host:465\". Empty: no e-mail."},
    Key{"smtp_from", &Config::smtp_from, "Address that these e-mails come from."},
    Key{"api", &Config::api,
        "What is served: jupyter, all of this gateway; or notebook-http, an HTTP API of whose "
        "paths "
        "each is a cell of seed_notebook, and nothing else.",
        0, 0, apis},
    Key{"seed_notebook", &Config::seed_notebook,
        "Notebook of this machine whose code cells every kernel that Jupyter makes runs before "
        "anybody uses it. Empty: none."},
    Key{"default_kernel", &Config::default_kernel,
        "Kernelspec that Jupyter clients get who ask for none."},
    Key{"force_kernel", &Config::force_kernel,
        "Kernelspec that Jupyter clients get, whichever they ask for. Empty: the one they ask "
        "for."},
    Key{"kernel_environment", &Config::kernel_environment,
        "Variables that a Jupyter client may set for its kernel, besides those that begin with "
        "KERNEL_."},
    Key{"kernel_environment_inherited", &Config::kernel_environment_inherited,
        "Variables of the gateway's own environment that kernels made by Jupyter clients get."},
    Key{"chat_dir", &Config::chat_dir,
        "Folder with the chat page, as examples/chat/build makes it; served under /examples/chat. "
        "Empty: the folder chat beside the program."},
    Key{"artifacts_max_mib", &Config::artifacts_max_mib,
        "Disk space for artifacts in MiB; past it the oldest go first. Pinned ones stay.", 16,
        100'000'000},
    Key{"artifacts_keep_days", &Config::artifacts_keep_days,
        "Days that artifacts are kept, unless they are pinned. 0: for ever.", 0, 36'500},
};

}  // namespace

std::span<const Key> keys() {
    return config_keys;
}

const Key* find_key(std::string_view name) {
    return &*std::find_if(config_keys.begin(), config_keys.end(),
                          [name](const Key& key) { return key.name == name; });
}

}  // namespace cellblock::gateway::config
