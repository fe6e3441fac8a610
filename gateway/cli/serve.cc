// `cellblock serve`: the gateway in the foreground, until SIGTERM or SIGINT.
#include "gateway/cli/command.h"
#include "gateway/cli/gateway.h"
#include "gateway/cli/log_sink.h"

namespace cellblock::gateway::cli {
namespace {

struct ServeArguments {
    ConfigFlags flags;
    int ready_fd = -1;
};

int serve(const ServeArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) {
        report(config.error());
        return exit_usage;
    }
    if (const auto started = start_log(config->log_level, config->log_file); !started) {
        return report(started.error());
    }
    Gateway gateway(std::move(*config), arguments.ready_fd);
    return gateway.run();
}

}  // namespace

void add_serve(CLI::App& app, Run& run) {
    auto arguments = std::make_shared<ServeArguments>();
    CLI::App* command = app.add_subcommand("serve", "Start the gateway in the foreground.");
    arguments->flags.add_to(*command);
    command
        ->add_option("--ready-fd", arguments->ready_fd,
                     "File descriptor that gets the line \"ready URL\" once requests are served.")
        ->type_name("FD");
    command->footer(
        "Each flag can also stand in the configuration file or the environment; flags win.\n"
        "Examples:\n"
        "  cellblock serve\n"
        "  cellblock serve --listen 127.0.0.1:9000 --pool-size 4\n"
        "  CELLBLOCK_LOG_LEVEL=debug cellblock serve --config ./cellblock.toml\n"
        "  cellblock serve --listen 0.0.0.0:8443 --tls-certificate cert.pem --tls-key key.pem");
    command->callback([arguments, &run] { run = [arguments] { return serve(*arguments); }; });
}

}  // namespace cellblock::gateway::cli
