// `cellblock connect`: a connection file for a kernel of the gateway that is running already, so
// that `jupyter console --existing` and the like reach it.
#include <cstdio>

#include "base/ids.h"
#include "gateway/cli/command.h"
#include "gateway/cli/relay_process.h"

namespace cellblock::gateway::cli {

using kernel_proxy::zmq_door::ConnectionFile;
using kernel_proxy::zmq_door::EndReason;
using kernel_proxy::zmq_door::Server;

namespace {

struct ConnectArguments {
    ConfigFlags flags;
    std::string kernel_id;
    std::string gateway;
    std::string file;
    std::int64_t gateway_patience_s = RelayOptions().gateway_patience.count();
};

// Removes the file again: it leads nowhere once this process has ended.
class PublishedFile {
  public:
    static Result<PublishedFile> write(const std::filesystem::path& path,
                                       const ConnectionFile& file) {
        CB_TRY(kernel_proxy::zmq_door::write_connection_file(path, file));
        return PublishedFile(path);
    }
    PublishedFile(PublishedFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    PublishedFile& operator=(PublishedFile&&) = delete;
    ~PublishedFile() {
        std::error_code error;
        if (!path_.empty()) std::filesystem::remove(path_, error);
    }

  private:
    explicit PublishedFile(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

Result<void> run_connect(const ConnectArguments& arguments) {
    CB_TRY_ASSIGN(config, arguments.flags.load());
    CB_TRY_ASSIGN(signals, SignalQueue::start());
    CB_TRY_ASSIGN(client, HttpClient::for_gateway(config, arguments.gateway));
    CB_TRY_ASSIGN(kernel, KernelClient::attach(client, arguments.kernel_id));
    ConnectionFile ports;  // any free ones
    ports.key = new_secret();
    CB_TRY_ASSIGN(server, Server::bind(std::move(ports)));
    const std::filesystem::path path =
        arguments.file.empty() ? "kernel-" + kernel.id() + ".json" : arguments.file;
    std::optional<PublishedFile> published;
    RelayOptions options;
    options.on_ready = [&]() -> Result<void> {
        CB_TRY_ASSIGN(written, PublishedFile::write(path, server->connection()));
        published.emplace(std::move(written));
        std::printf("jupyter console --existing %s\n", std::filesystem::absolute(path).c_str());
        std::fflush(stdout);
        return {};
    };
    options.gateway_patience = std::chrono::seconds(arguments.gateway_patience_s);
    options.on_restart = OnRestart::in_place;
    options.on_interrupt_signal = OnInterruptSignal::end;
    CB_TRY_ASSIGN(end, relay_kernel(*server, client, kernel, signals, options));
    if (end.reason == EndReason::shut_down) return kernel.remove();
    if (end.reason == EndReason::asked) return {};
    return fail(ErrorCode::connection_lost, "the kernel is not reached any more: " + end.text);
}

int connect(const ConnectArguments& arguments) {
    const auto done = run_connect(arguments);
    return done ? exit_success : report(done.error());
}

}  // namespace

void add_connect(CLI::App& app, Run& run) {
    auto arguments = std::make_shared<ConnectArguments>();
    CLI::App* command = app.add_subcommand(
        "connect", "Make a running kernel reachable over ZeroMQ, with a connection file.");
    command->add_option("kernel", arguments->kernel_id, "The kernel's id (GET /api/kernels).")
        ->required()
        ->type_name("ID");
    command
        ->add_option("-o,--output", arguments->file,
                     "The connection file. Default: kernel-ID.json in this folder.")
        ->type_name("FILE");
    command
        ->add_option("--gateway", arguments->gateway,
                     "Address of the gateway. Default: CELLBLOCK_URL, else --listen.")
        ->type_name("URL");
    add_gateway_patience(*command, arguments->gateway_patience_s);
    arguments->flags.add_to(*command, {"listen", "state_dir", "token_file"});
    command->footer(
        "Runs in the foreground; Ctrl-C ends the connection and removes the file. The kernel "
        "stays,\n"
        "unless a client shuts it down.\n"
        "Examples:\n"
        "  cellblock connect 2f6b... -o /tmp/kernel.json &\n"
        "  jupyter console --existing /tmp/kernel.json");
    command->callback([arguments, &run] { run = [arguments] { return connect(*arguments); }; });
}

}  // namespace cellblock::gateway::cli
