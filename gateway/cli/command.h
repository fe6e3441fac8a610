// What the subcommands of `cellblock` share: each adds itself to the CLI11 app and leaves a
// function to run after parsing. One file a subcommand.
//
// Exit codes: 0 success, 1 what was asked for failed, 2 wrong usage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "gateway/config/config.h"

namespace cellblock::gateway::cli {

inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

// Set by the subcommand that was chosen.
using Run = std::function<int()>;

// One function a file.
void add_serve(CLI::App& app, Run& run);
void add_kernelgateway(CLI::App& app, Run& run);
void add_exec(CLI::App& app, Run& run);
void add_doctor(CLI::App& app, Run& run);
void add_image(CLI::App& app, Run& run);
void add_template(CLI::App& app, Run& run);
void add_ps(CLI::App& app, Run& run);
void add_sandbox_states(CLI::App& app, Run& run);
void add_snapshots(CLI::App& app, Run& run);
void add_jobs(CLI::App& app, Run& run);
void add_artifacts(CLI::App& app, Run& run);
void add_kernel(CLI::App& app, Run& run);
void add_kernelspec(CLI::App& app, Run& run);
void add_connect(CLI::App& app, Run& run);

// --config and a flag for each key of the configuration that is named (all, when empty).
class ConfigFlags {
  public:
    void add_to(CLI::App& command, const std::vector<std::string_view>& names = {});
    // Reads everything in its order of strength.
    Result<config::Config> load() const;

  private:
    struct Option {
        const config::Key* key;
        CLI::Option* option;
        std::string value;
    };
    std::string file_;
    std::vector<std::unique_ptr<Option>> options_;
};

// --gateway-patience, of the commands that relay a kernel.
void add_gateway_patience(CLI::App& command, std::int64_t& seconds);

// "cellblock: cause" and the advice on a line of its own, to standard error. Returns exit_failure.
int report(const Error& error);

}  // namespace cellblock::gateway::cli
