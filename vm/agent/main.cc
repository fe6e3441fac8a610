// cellblock-agent: the first process of a Cellblock guest, or a normal process for tests.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "base/log.h"
#include "vm/agent/agent.h"
#include "vm/agent/console_log.h"
#include "vm/agent/launcher.h"

using namespace cellblock;
using namespace cellblock::vm::agent;

namespace {

int serve(Options options) {
    ::signal(SIGPIPE, SIG_IGN);
    BootReport report = boot(options);
    boost::asio::io_context loop(1);
    const Mode mode = options.mode;
    Agent agent(loop, std::move(options), std::move(report));
    boost::asio::signal_set ending(loop);
    if (mode == Mode::rootless) {
        ending.add(SIGINT);
        ending.add(SIGTERM);
        ending.async_wait([&](const boost::system::error_code& error, int) {
            if (error) return;
            agent.stop();
            loop.stop();
        });
    }
    const auto started = agent.start();
    if (!started) {
        log::error("agent_not_started", {{"reason", started.error().text()}});
        return 1;  // PID 1's end is the kernel's panic and the machine's end: the host sees both
    }
    log::info("agent_serving", {{"version", agent_version}, {"pid", ::getpid()}});
    loop.run();
    // Suspended coroutines refer to the agent: ending here spares an order in which both could go.
    ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!arguments.empty() && arguments[0] == "launch") {
        return launcher_main({arguments.begin() + 1, arguments.end()});
    }
    if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
        std::fputs(usage().c_str(), stdout);
        return 0;
    }
    auto options = parse_options(arguments);
    if (!options) {
        std::fprintf(stderr, "cellblock-agent: %s\n", options.error().text().c_str());
        return 2;
    }
    if (options->mode == Mode::guest && ::getpid() != 1) {
        std::fprintf(stderr, "cellblock-agent: not process 1: on a host use --root-less\n");
        return 2;
    }
    if (options->mode == Mode::guest) log::set_sink(bounded_console_sink());
    return serve(std::move(*options));
}
