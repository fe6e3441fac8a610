// `cellblock kernelgateway`: the gateway for programs that start `jupyter kernelgateway`, with that
// command's options and variables. As `jupyter-kernelgateway` on the PATH it is found by jupyter.
#include <cstdio>

#include "gateway/cli/command.h"
#include "gateway/cli/gateway.h"
#include "gateway/cli/log_sink.h"
#include "gateway/config/kernel_gateway.h"

namespace cellblock::gateway::cli {
namespace {

int usage(const Error& error) {
    report(error);
    return exit_usage;
}

int run_kernelgateway(const std::vector<std::string>& arguments) {
    if (arguments == std::vector<std::string>{"--version"}) {
        std::printf("%s\n", std::string(config::kernel_gateway_version).c_str());
        return exit_success;
    }
    const std::vector<config::Flag> flags = {{config::find_key("compat"), "kernel-gateway"}};
    auto config = config::load(
        std::nullopt, [](const char* name) -> const char* { return std::getenv(name); }, flags);
    if (!config) return usage(config.error());
    const auto unknown = config::apply_kernel_gateway_arguments(*config, arguments);
    if (!unknown) return usage(unknown.error());
    for (const std::string& option : *unknown) {
        std::fprintf(stderr, "cellblock: --%s means nothing here\n", option.c_str());
    }
    if (const auto checked = config::check(*config); !checked) return usage(checked.error());
    if (const auto started = start_log(config->log_level, config->log_file); !started) {
        return report(started.error());
    }
    constexpr int no_ready_fd = -1;
    Gateway gateway(std::move(*config), no_ready_fd);
    return gateway.run();
}

}  // namespace

void add_kernelgateway(CLI::App& app, Run& run) {
    CLI::App* command = app.add_subcommand(
        "kernelgateway",
        "Start the gateway in the place of `jupyter kernelgateway`, whose options and KG_* "
        "variables it takes.");
    command->prefix_command();
    command->footer(
        "Linked as jupyter-kernelgateway into a folder of the PATH, it is what programs start "
        "that\n"
        "call `jupyter kernelgateway`. Folders are set by CELLBLOCK_STATE_DIR and the like.\n"
        "Without KG_AUTH_TOKEN, or with an empty one, the token is the token file's; only\n"
        "CELLBLOCK_INSECURE_NO_TOKEN=yes on a loopback address does without one.\n"
        "Example:\n"
        "  KG_AUTH_TOKEN=secret cellblock kernelgateway --KernelGatewayApp.port=8888");
    command->callback([command, &run] {
        run = [arguments = command->remaining()] { return run_kernelgateway(arguments); };
    });
}

}  // namespace cellblock::gateway::cli
