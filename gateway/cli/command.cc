#include "gateway/cli/command.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace cellblock::gateway::cli {

void ConfigFlags::add_to(CLI::App& command, const std::vector<std::string_view>& names) {
    command
        .add_option("--config", file_,
                    "Configuration file (TOML). gateway/config/cellblock.toml lists every key.")
        ->type_name("FILE");
    for (const config::Key& key : config::keys()) {
        if (!names.empty() && std::find(names.begin(), names.end(), key.name) == names.end()) {
            continue;
        }
        auto option = std::make_unique<Option>();
        option->key = &key;
        const bool number = std::holds_alternative<std::int64_t config::Config::*>(key.member);
        const std::string help = std::string(key.help) + " [" + key.environment_name() +
                                 ", default " + config::value_text(config::Config(), key) + "]";
        option->option = command.add_option(key.flag_name(), option->value, help)
                             ->type_name(number ? "N" : "TEXT");
        options_.push_back(std::move(option));
    }
}

Result<config::Config> ConfigFlags::load() const {
    std::vector<config::Flag> flags;
    for (const auto& option : options_) {
        if (option->option->count() > 0) flags.push_back({option->key, option->value});
    }
    std::optional<std::filesystem::path> file;
    if (!file_.empty()) file = file_;
    return config::load(
        file, [](const char* name) -> const char* { return std::getenv(name); }, flags);
}

void add_gateway_patience(CLI::App& command, std::int64_t& seconds) {
    command
        .add_option("--gateway-patience", seconds,
                    "Seconds for which a gateway that was killed may be away before the kernel is "
                    "given up; another one of the same state folder takes it over.")
        ->envname("CELLBLOCK_GATEWAY_PATIENCE_S")
        ->check(CLI::Range(0, 86'400))
        ->capture_default_str()
        ->type_name("N");
}

int report(const Error& error) {
    std::fprintf(stderr, "cellblock: %s\n", error.cause.c_str());
    if (!error.advice.empty()) std::fprintf(stderr, "  %s\n", error.advice.c_str());
    return exit_failure;
}

}  // namespace cellblock::gateway::cli
