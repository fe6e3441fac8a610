// `cellblock kernel`: a kernel of the gateway behind the ports that a Jupyter client chose. What a
// kernelspec starts; `cellblock kernelspec install` makes one.
#include <unistd.h>

#include <cstdio>

#include "base/log.h"
#include "gateway/cli/command.h"
#include "gateway/cli/kernel_lease.h"
#include "gateway/cli/relay_process.h"

namespace cellblock::gateway::cli {

using kernel_proxy::zmq_door::End;
using kernel_proxy::zmq_door::EndReason;
using kernel_proxy::zmq_door::Server;

namespace {

struct KernelArguments {
    ConfigFlags flags;
    std::string connection_file;
    std::string gateway;
    std::string kernel_id;
    std::string kernel_name;
    std::int64_t gateway_patience_s = RelayOptions().gateway_patience.count();
};

// The one that the last process of this connection file left, restarted in place; else a new one.
Result<KernelClient> own_kernel(HttpClient& client, const KernelArguments& arguments) {
    if (const auto left = KernelLease::claim(arguments.connection_file, client.url())) {
        auto kernel = KernelClient::attach(client, *left);
        if (kernel && kernel->restart()) return kernel;
        // It did not live so long.
    }
    return KernelClient::create(client, arguments.kernel_name, SignalQueue::end_is_pending);
}

// Deletes the kernel, from the lease's child.
void remove_orphan(const KernelArguments& arguments, const std::string& id) {
    const auto config = arguments.flags.load();
    if (!config) return;
    auto client = HttpClient::for_gateway(*config, arguments.gateway);
    if (!client) return;
    auto kernel = KernelClient::attach(*client, id);
    if (kernel) (void)kernel->remove();
}

int exit_code_of(const End& end) {
    switch (end.reason) {
        case EndReason::kernel_gone:
            return report(Error(ErrorCode::kernel_died, "the kernel has ended: " + end.text));
        case EndReason::gateway_gone:
            return report(
                Error(ErrorCode::connection_lost,
                      "the connection to the gateway broke, and the kernel is lost: " + end.text,
                      "see the gateway's log, and start the kernel again"));
        default:
            return exit_success;
    }
}

// The client that started us; none when init has taken us over.
pid_t client_pid() {
    const pid_t parent = ::getppid();
    return parent > 1 ? parent : 0;
}

// The kernel whose life is this process's.
Result<End> relay_own(HttpClient& client, Server& server, SignalQueue& signals, KernelLease& lease,
                      const RelayOptions& options, const KernelArguments& arguments) {
    CB_TRY_ASSIGN(kernel, own_kernel(client, arguments));
    const auto held = lease.hold(kernel.id(), client.url());
    if (!held) log::warning("kernel_lease_failed", {{"error", held.error().text()}});
    const auto end = relay_kernel(server, client, kernel, signals, options);
    if (end && end->reason == EndReason::handed_over) {
        lease.hand_over();
        return end;
    }
    // Of a gateway that is gone nothing can be asked; the lease's child tries once more.
    if (kernel.remove()) lease.release();
    return end;
}

// Somebody else's kernel, which stays.
Result<End> relay_other(HttpClient& client, Server& server, SignalQueue& signals,
                        const RelayOptions& options, const KernelArguments& arguments) {
    CB_TRY_ASSIGN(kernel, KernelClient::attach(client, arguments.kernel_id));
    auto end = relay_kernel(server, client, kernel, signals, options);
    if (!end) return end;
    Result<void> done;
    if (end->reason == EndReason::shut_down) done = kernel.remove();
    if (end->reason == EndReason::handed_over) done = kernel.restart();
    if (!done) return fail(done.error());
    return end;
}

Result<End> run_kernel(const KernelArguments& arguments) {
    RelayOptions options;
    options.client_pid = client_pid();
    options.gateway_patience = std::chrono::seconds(arguments.gateway_patience_s);
    CB_TRY_ASSIGN(config, arguments.flags.load());
    CB_TRY_ASSIGN(file, kernel_proxy::zmq_door::read_connection_file(arguments.connection_file));
    CB_TRY_ASSIGN(signals, SignalQueue::start());
    CB_TRY_ASSIGN(lease, KernelLease::start(arguments.connection_file, [&](const std::string& id) {
                      remove_orphan(arguments, id);
                  }));
    CB_TRY_ASSIGN(client, HttpClient::for_gateway(config, arguments.gateway));
    // First of all, so that the client's connections find somebody.
    CB_TRY_ASSIGN(server, Server::bind(std::move(file)));
    if (arguments.kernel_id.empty()) {
        return relay_own(client, *server, signals, lease, options, arguments);
    }
    lease.release();
    return relay_other(client, *server, signals, options, arguments);
}

int kernel(const KernelArguments& arguments) {
    const auto end = run_kernel(arguments);
    return end ? exit_code_of(*end) : report(end.error());
}

}  // namespace

void add_kernel(CLI::App& app, Run& run) {
    auto arguments = std::make_shared<KernelArguments>();
    CLI::App* command = app.add_subcommand(
        "kernel", "Be a kernel for a Jupyter client: relay one of the gateway over ZeroMQ.");
    command
        ->add_option("-f,--connection-file", arguments->connection_file,
                     "The connection file that the client wrote.")
        ->required()
        ->type_name("FILE");
    command
        ->add_option("--gateway", arguments->gateway,
                     "Address of the gateway. Default: CELLBLOCK_URL, else --listen.")
        ->type_name("URL");
    command
        ->add_option("--kernel-id", arguments->kernel_id,
                     "Relay this kernel, which stays when this process ends. Default: a new one in "
                     "a sandbox of its own, which is deleted then.")
        ->type_name("ID");
    command
        ->add_option("--kernel-name", arguments->kernel_name,
                     "Kernelspec of the new kernel. Default: the gateway's own default.")
        ->type_name("NAME");
    add_gateway_patience(*command, arguments->gateway_patience_s);
    arguments->flags.add_to(*command, {"listen", "state_dir", "token_file"});
    command->footer(
        "SIGINT interrupts the kernel; SIGTERM, a shutdown_request and the end of the process "
        "that\n"
        "started this one end it. The token: CELLBLOCK_TOKEN, else the token file.\n"
        "Usually a kernelspec starts this: see cellblock kernelspec install.");
    command->callback([arguments, &run] { run = [arguments] { return kernel(*arguments); }; });
}

}  // namespace cellblock::gateway::cli
