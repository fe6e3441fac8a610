// The `cellblock` program: parses the command line and hands over to one subcommand.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "gateway/cli/command.h"

int main(int argc, char** argv) {
    using namespace cellblock::gateway;
    // A client that goes away is an error code, not the end of the program.
    std::signal(SIGPIPE, SIG_IGN);

    CLI::App app(
        "Cellblock runs code in microVMs and brings back text, tables, pictures and charts.",
        "cellblock");
    app.set_version_flag("--version", "cellblock " CELLBLOCK_VERSION);
    app.require_subcommand(1);
    app.footer(
        "First steps:\n"
        "  cellblock doctor                 what is missing on this machine\n"
        "  cellblock serve                  start the gateway; prints its address and token\n"
        "  cellblock exec 'print(1 + 1)'    run code in a sandbox of the running gateway\n"
        "\"cellblock COMMAND --help\" explains a command.");
    cli::Run run;
    cli::add_serve(app, run);
    cli::add_kernelgateway(app, run);
    cli::add_exec(app, run);
    cli::add_ps(app, run);
    cli::add_sandbox_states(app, run);
    cli::add_snapshots(app, run);
    cli::add_jobs(app, run);
    cli::add_artifacts(app, run);
    cli::add_kernelspec(app, run);
    cli::add_kernel(app, run);
    cli::add_connect(app, run);
    cli::add_doctor(app, run);
    cli::add_image(app, run);
    cli::add_template(app, run);
    // Under the name by which `jupyter kernelgateway` finds it, the program is that command.
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (std::filesystem::path(argv[0]).filename() == "jupyter-kernelgateway") {
        arguments.insert(arguments.begin(), "kernelgateway");
    }
    // CLI11 would only say that a command is missing.
    const auto is_meant = [&arguments](CLI::App* command) {
        return command->check_name(arguments[0]);
    };
    const bool names_command = !arguments.empty() && !arguments[0].starts_with('-');
    if (names_command && app.get_subcommands(is_meant).empty()) {
        std::fprintf(stderr, "cellblock: there is no command \"%s\"; see cellblock --help\n",
                     arguments[0].c_str());
        return cli::exit_usage;
    }
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
    try {
        app.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
        // Help and --version are "errors" with exit code 0.
        // CLI11's App::exit only prints and returns a code.
        const int code = std::invoke(&CLI::App::exit, app, error, std::cout, std::cerr);
        return code == 0 ? cli::exit_success : cli::exit_usage;
    }
    try {
        return run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cellblock: unexpected failure: %s\n", error.what());
        return cli::exit_failure;
    }
}
