// The gateway's configuration: one struct, one table that documents every key.
//
// Order of strength: defaults < file < environment (CELLBLOCK_LISTEN) < flags (--listen). All names
// derive from the table's. Blocking file read: for start-up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace cellblock::gateway::config {

struct Config {
    // Where it listens and where it keeps things.
    std::string listen = "127.0.0.1:8888";
    std::string state_dir;   // empty: chosen for the user, see state_directory()
    std::string cache_dir;   // empty: chosen for the user
    std::string token_file;  // empty: state_dir/token
    // The front door.
    std::string insecure_no_token = "no";
    std::string tls_certificate;
    std::string tls_key;
    std::vector<std::string> allowed_hosts;
    std::vector<std::string> allowed_origins;
    std::int64_t connections_max = 4096;
    std::int64_t shutdown_grace_s = 20;
    std::string on_shutdown = "end";
    // Logs.
    std::string log_level = "info";
    std::string log_file;  // empty: standard error
    // microVMs.
    std::string accelerator = "auto";
    std::string image = "science";
    std::int64_t template_memory_mib = 4096;
    std::int64_t pool_size = 2;
    // Sandboxes.
    std::int64_t sandboxes_max = 64;
    std::int64_t start_wait_s = 10;
    std::int64_t memory_overcommit_percent = 800;
    std::int64_t host_memory_reserve_mib = 0;
    std::int64_t sandbox_memory_mib = 1024;
    std::int64_t sandbox_timeout_s = 300;
    std::int64_t execution_timeout_s = 300;
    // The Jupyter door.
    std::string compat = "jupyter-server";
    std::string list_kernels = "auto";
    std::int64_t kernels_max = 0;
    std::int64_t kernel_idle_timeout_s = 0;
    std::string cull = "unused";
    std::string contents_dir;  // empty: no contents API
    // Jobs, and what is called for them.
    std::int64_t jobs_max = 16;
    std::int64_t job_keep_s = 900;
    std::vector<std::string> webhook_hosts = {"*"};
    std::string smtp_url;  // empty: no e-mail
    std::string smtp_from;
    std::string api = "jupyter";
    std::string seed_notebook;
    std::string default_kernel = "python3";
    std::string force_kernel;
    std::vector<std::string> kernel_environment;
    std::vector<std::string> kernel_environment_inherited;
    // Only kernel_gateway's names for things set it (KG_AUTH_TOKEN): a token of the environment
    // instead of the file's. Empty: nothing, the file's (see auth/admission.h).
    std::optional<std::string> token;
    // The chat page.
    std::string chat_dir;  // empty: beside the program
    // Artifacts.
    std::int64_t artifacts_max_mib = 10240;
    std::int64_t artifacts_keep_days = 30;

    Config() = default;

    std::filesystem::path state_directory() const;
    std::filesystem::path cache_directory() const;
    std::filesystem::path token_path() const;
    bool serves_notebook() const { return api == "notebook-http"; }
};

using Member =
    std::variant<std::string Config::*, std::int64_t Config::*, std::vector<std::string> Config::*>;

struct Key {
    std::string_view name;  // in the file
    Member member;
    std::string_view help;  // one or two plain sentences
    std::int64_t min = 0;   // for integers
    std::int64_t max = 0;
    std::span<const std::string_view> choices = {};  // for strings with a closed set

    std::string environment_name() const;  // CELLBLOCK_LISTEN
    std::string flag_name() const;         // --listen
};

std::span<const Key> keys();
// One of them, by a name that is in the table.
const Key* find_key(std::string_view name);

// The value as the file would write it: "127.0.0.1:8888" (quoted), 64, ["a"].
std::string value_text(const Config& config, const Key& key);

// One value from the environment or a flag; lists are separated by commas. `source` begins the
// message: "--listen", "CELLBLOCK_LISTEN".
Result<void> set_from_text(Config& config, const Key& key, std::string_view text,
                           std::string_view source);

// TOML. Errors name file:line, and the nearest key for an unknown one.
Result<void> apply_toml(Config& config, std::string_view text, const std::string& file_name);

struct Flag {
    const Key* key;
    std::string value;
};

// The whole order. `file`: explicit path, must exist; without it, the default places are tried
// ($XDG_CONFIG_HOME/cellblock/cellblock.toml, /etc/cellblock/cellblock.toml). With kernel_gateway's
// manners its variables (KG_PORT) count too, between the file and our own.
Result<Config> load(const std::optional<std::filesystem::path>& file,
                    const std::function<const char*(const char*)>& environment,
                    const std::vector<Flag>& flags);
// What only all settings together show.
Result<void> check(const Config& config);

}  // namespace cellblock::gateway::config
