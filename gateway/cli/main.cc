// The `cellblock` program: parses the command line and hands over to one subcommand.
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>

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
    try {
        app.parse(argc, argv);
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
