#include "gateway/config/kernel_gateway.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/json.h"

namespace cellblock::gateway::config {
namespace {

// `source` begins the message, as in set_from_text.
using Apply = Result<void> (*)(Config& config, std::string_view value, std::string_view source);

struct Trait {
    std::string_view name;      // on the command line, behind its class
    std::string_view variable;  // empty: has none
    Apply apply;                // null: changes nothing here
};

Result<void> set(Config& config, std::string_view key_name, std::string_view value,
                 std::string_view source) {
    return set_from_text(config, *find_key(key_name), value, source);
}

tl::unexpected<Error> not_here(std::string_view source, std::string_view what) {
    return fail(ErrorCode::not_supported, std::string(source) + ": " + std::string(what));
}

// "['A', 'B']", as traitlets writes lists, or "A,B".
std::string plain_list(std::string_view value) {
    std::string plain;
    for (const char c : value) {
        if (std::string_view("[]()'\" ").find(c) == std::string_view::npos) plain += c;
    }
    return plain;
}

std::string_view truth(std::string_view value) {
    const bool no = value.empty() || value == "0" || value == "False" || value == "false";
    return no ? "no" : "yes";
}

// The part of `listen` before or behind its last colon is replaced.
Result<void> set_ip(Config& config, std::string_view value, std::string_view) {
    const std::string port = config.listen.substr(config.listen.rfind(':'));
    const bool v6 = value.find(':') != std::string_view::npos;
    // As upstream, an empty address is every address.
    const std::string address = value.empty() || value == "*" ? "0.0.0.0" : std::string(value);
    config.listen = (v6 ? "[" + address + "]" : address) + port;
    return {};
}
Result<void> set_port(Config& config, std::string_view value, std::string_view) {
    config.listen = config.listen.substr(0, config.listen.rfind(':') + 1) + std::string(value);
    return {};
}
// What no header carries unchanged would never fit.
Result<void> set_token(Config& config, std::string_view value, std::string_view source) {
    const auto carried = [](char c) { return c > ' ' && c <= '~'; };
    if (!std::all_of(value.begin(), value.end(), carried)) {
        return fail(ErrorCode::invalid_argument,
                    std::string(source) + " has a character that no token may have",
                    "use letters, digits and signs of ASCII, without spaces");
    }
    config.token = std::string(value);
    return {};
}
Result<void> set_base_url(Config&, std::string_view value, std::string_view source) {
    if (value.empty() || value == "/") return {};
    return not_here(source, "only the base URL / is served");
}
Result<void> set_api(Config& config, std::string_view value, std::string_view source) {
    const bool notebook = value.ends_with("notebook_http");
    if (!notebook && !value.empty() && !value.ends_with("jupyter_websocket")) {
        return not_here(source,
                        "there are the APIs kernel_gateway.jupyter_websocket and "
                        "kernel_gateway.notebook_http");
    }
    return set(config, "api", notebook ? "notebook-http" : "jupyter", source);
}
// The other parser reads what the original's documentation calls Swagger annotations.
Result<void> set_cell_parser(Config&, std::string_view value, std::string_view source) {
    if (value.empty() || value.ends_with("cell.parser")) return {};
    return not_here(source, "only the comments of cells are read, as the default parser does");
}
Result<void> set_notebook_download(Config&, std::string_view value, std::string_view source) {
    if (truth(value) == "no") return {};
    return not_here(source, "the notebook itself is not served");
}
Result<void> set_static_path(Config&, std::string_view value, std::string_view source) {
    if (value.empty() || value == "None") return {};
    return not_here(source, "no files are served beside the notebook's API");
}
Result<void> set_max_kernels(Config& config, std::string_view value, std::string_view source) {
    return set(config, "kernels_max", value == "None" || value.empty() ? "0" : value, source);
}
Result<void> set_prespawn(Config& config, std::string_view value, std::string_view source) {
    return set(config, "pool_size", value == "None" || value.empty() ? "0" : value, source);
}
Result<void> set_list_kernels(Config& config, std::string_view value, std::string_view source) {
    return set(config, "list_kernels", truth(value), source);
}
Result<void> set_seed(Config& config, std::string_view value, std::string_view source) {
    constexpr std::string_view file = "file://";
    if (value.starts_with(file)) value.remove_prefix(file.size());
    if (value.find("://") != std::string_view::npos) {
        return not_here(source,
                        "only notebooks on this machine seed kernels, not " + std::string(value));
    }
    return set(config, "seed_notebook", value == "None" ? "" : value, source);
}
Result<void> set_default_name(Config& config, std::string_view value, std::string_view source) {
    return value.empty() ? Result<void>() : set(config, "default_kernel", value, source);
}
Result<void> set_force_name(Config& config, std::string_view value, std::string_view source) {
    return set(config, "force_kernel", value, source);
}
Result<void> set_allowed(Config& config, std::string_view value, std::string_view source) {
    return set(config, "kernel_environment", plain_list(value), source);
}
Result<void> set_inherited(Config& config, std::string_view value, std::string_view source) {
    return set(config, "kernel_environment_inherited", plain_list(value), source);
}
Result<void> set_origin(Config& config, std::string_view value, std::string_view source) {
    return set(config, "allowed_origins", value, source);
}
Result<void> set_certificate(Config& config, std::string_view value, std::string_view source) {
    return set(config, "tls_certificate", value, source);
}
Result<void> set_key(Config& config, std::string_view value, std::string_view source) {
    return set(config, "tls_key", value, source);
}
// Whoever asks for it relies on it.
Result<void> set_client_ca(Config&, std::string_view value, std::string_view source) {
    if (value.empty() || value == "None") return {};
    return not_here(source, "client certificates are not checked here");
}
// A dictConfig; AutoGen reads nobody's stderr after the start and names a file here.
Result<void> set_logging(Config& config, std::string_view value, std::string_view source) {
    constexpr JsonLimits json_limits{64 * 1024};
    auto parsed = parse_json(value, json_limits, source);
    if (!parsed) return fail(std::move(parsed).error());
    const auto handlers = parsed->find("handlers");
    if (handlers == parsed->end() || !handlers->is_object()) return {};
    for (const auto& [name, handler] : handlers->items()) {
        if (!handler.is_object()) continue;
        CB_TRY_ASSIGN(file, optional_string(handler, "filename"));
        if (file) config.log_file = std::move(*file);
    }
    return {};
}

constexpr std::array traits = {
    Trait{"ip", "KG_IP", set_ip},
    Trait{"port", "KG_PORT", set_port},
    Trait{"port_retries", "KG_PORT_RETRIES", nullptr},
    Trait{"auth_token", "KG_AUTH_TOKEN", set_token},
    Trait{"base_url", "KG_BASE_URL", set_base_url},
    Trait{"api", "KG_API", set_api},
    Trait{"cell_parser", "KG_CELL_PARSER", set_cell_parser},
    Trait{"allow_notebook_download", "KG_ALLOW_NOTEBOOK_DOWNLOAD", set_notebook_download},
    Trait{"static_path", "KG_STATIC_PATH", set_static_path},
    Trait{"max_kernels", "KG_MAX_KERNELS", set_max_kernels},
    Trait{"prespawn_count", "KG_PRESPAWN_COUNT", set_prespawn},
    Trait{"list_kernels", "KG_LIST_KERNELS", set_list_kernels},
    Trait{"seed_uri", "KG_SEED_URI", set_seed},
    Trait{"default_kernel_name", "KG_DEFAULT_KERNEL_NAME", set_default_name},
    Trait{"force_kernel_name", "KG_FORCE_KERNEL_NAME", set_force_name},
    Trait{"env_whitelist", "KG_ENV_WHITELIST", set_allowed},
    Trait{"allowed_envs", "KG_ALLOWED_ENVS", set_allowed},
    Trait{"env_process_whitelist", "KG_ENV_PROCESS_WHITELIST", set_inherited},
    Trait{"inherited_envs", "KG_INHERITED_ENVS", set_inherited},
    Trait{"allow_origin", "KG_ALLOW_ORIGIN", set_origin},
    Trait{"allow_credentials", "KG_ALLOW_CREDENTIALS", nullptr},
    Trait{"allow_headers", "KG_ALLOW_HEADERS", nullptr},
    Trait{"allow_methods", "KG_ALLOW_METHODS", nullptr},
    Trait{"expose_headers", "KG_EXPOSE_HEADERS", nullptr},
    Trait{"max_age", "KG_MAX_AGE", nullptr},
    Trait{"trust_xheaders", "KG_TRUST_XHEADERS", nullptr},
    Trait{"ws_ping_interval", "KG_WS_PING_INTERVAL_SECS", nullptr},
    Trait{"certfile", "KG_CERTFILE", set_certificate},
    Trait{"keyfile", "KG_KEYFILE", set_key},
    Trait{"client_ca", "KG_CLIENT_CA", set_client_ca},
    Trait{"ssl_version", "KG_SSL_VERSION", nullptr},
    Trait{"logging_config", "", set_logging},
    Trait{"answer_yes", "", nullptr},
    Trait{"log_level", "", nullptr},
};

// Whether the option alone means yes. A token of "True" would be everybody's.
bool is_switch(const Trait& trait) {
    return trait.apply == nullptr || trait.apply == set_list_kernels ||
           trait.apply == set_notebook_download;
}

// "KernelGatewayApp.seed_uri" and the aliases "seed_uri" and "seed-uri" are the same.
const Trait* find_trait(std::string_view option) {
    std::string name(option.substr(option.rfind('.') + 1));
    std::replace(name.begin(), name.end(), '-', '_');
    const auto found = std::find_if(traits.begin(), traits.end(),
                                    [&name](const Trait& trait) { return trait.name == name; });
    return found == traits.end() ? nullptr : &*found;
}

}  // namespace

Result<void> apply_kernel_gateway_environment(
    Config& config, const std::function<const char*(const char*)>& environment) {
    for (const Trait& trait : traits) {
        if (trait.variable.empty() || trait.apply == nullptr) continue;
        const char* value = environment(std::string(trait.variable).c_str());
        if (value == nullptr) continue;
        CB_TRY(trait.apply(config, value, trait.variable));
    }
    return {};
}

Result<std::vector<std::string>> apply_kernel_gateway_arguments(
    Config& config, std::span<const std::string> arguments) {
    std::vector<std::string> unknown;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        std::string_view option = arguments[i];
        if (!option.starts_with("--") || option.size() == 2) {
            return fail(ErrorCode::invalid_argument, "unexpected argument: " + arguments[i],
                        "options look like --KernelGatewayApp.port=8888");
        }
        option.remove_prefix(2);
        const std::size_t equals = option.find('=');
        std::optional<std::string_view> value;
        if (equals != std::string_view::npos) {
            value = option.substr(equals + 1);
            option = option.substr(0, equals);
        } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
            value = arguments[++i];
        }
        const Trait* trait = find_trait(option);
        if (!value) {
            if (trait != nullptr && !is_switch(*trait)) {
                return fail(ErrorCode::invalid_argument, arguments[i] + " has no value");
            }
            value = "True";
        }
        if (trait == nullptr) {
            unknown.emplace_back(option);
        } else if (trait->apply != nullptr) {
            CB_TRY(trait->apply(config, *value, "--" + std::string(option)));
        }
    }
    return unknown;
}

}  // namespace cellblock::gateway::config
