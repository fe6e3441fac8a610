// `cellblock kernelspec install|remove`: kernels in microVMs for every Jupyter client here.
#include <cstdio>
#include <cstdlib>

#include "gateway/cli/command.h"
#include "gateway/cli/kernelspecs.h"

namespace cellblock::gateway::cli {
namespace {

struct KernelspecArguments {
    ConfigFlags flags;
    std::string gateway;
    std::string prefix;
    bool user = false;
};

// What a kernelspec starts, but for the kernel's name. The token itself is not in it: kernelspecs
// are readable by all.
std::vector<std::string> kernel_command(const config::Config& config, const std::string& url) {
    std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                                        "kernel",
                                        "-f",
                                        "{connection_file}",
                                        "--gateway",
                                        url};
    if (std::getenv("CELLBLOCK_TOKEN") == nullptr) {
        const auto token_file = std::filesystem::absolute(config.token_path());
        command.insert(command.end(), {"--token-file", token_file.string()});
    }
    return command;
}

int install(const KernelspecArguments& arguments) {
    const auto config = arguments.flags.load();
    if (!config) return report(config.error());
    auto client = HttpClient::for_gateway(*config, arguments.gateway);
    if (!client) return report(client.error());
    const auto made = install_kernelspecs(*client, jupyter_data_folder(arguments.prefix),
                                          kernel_command(*config, client->url()));
    if (!made) return report(made.error());
    for (const auto& folder : *made) std::printf("installed %s\n", folder.c_str());
    if (std::getenv("CELLBLOCK_TOKEN") != nullptr) {
        std::printf("Jupyter clients need CELLBLOCK_TOKEN in their environment.\n");
    }
    return exit_success;
}

int remove(const KernelspecArguments& arguments) {
    const auto removed = remove_kernelspecs(jupyter_data_folder(arguments.prefix));
    if (!removed) return report(removed.error());
    for (const auto& folder : *removed) std::printf("removed %s\n", folder.c_str());
    if (removed->empty()) std::printf("No kernelspecs of Cellblock are installed there.\n");
    return exit_success;
}

void add_place(CLI::App& command, KernelspecArguments& arguments) {
    auto* user =
        command.add_flag("--user", arguments.user, "In the user's Jupyter folder. The default.");
    command
        .add_option("--prefix", arguments.prefix,
                    "Below DIR/share/jupyter: /usr/local for everybody, a virtual environment's "
                    "folder for its clients.")
        ->excludes(user)
        ->type_name("DIR");
}

}  // namespace

void add_kernelspec(CLI::App& app, Run& run) {
    auto arguments = std::make_shared<KernelspecArguments>();
    CLI::App* command = app.add_subcommand(
        "kernelspec", "Let Jupyter clients on this machine start kernels in microVMs.");
    command->require_subcommand(1);
    CLI::App* installer = command->add_subcommand(
        "install", "Make a kernelspec for each kernel of the running gateway.");
    add_place(*installer, *arguments);
    installer
        ->add_option("--gateway", arguments->gateway,
                     "Address of the gateway. Default: CELLBLOCK_URL, else --listen.")
        ->type_name("URL");
    arguments->flags.add_to(*installer, {"listen", "state_dir", "token_file"});
    installer->footer(
        "Examples:\n"
        "  cellblock kernelspec install\n"
        "  cellblock kernelspec install --prefix /usr/local --gateway http://127.0.0.1:8888\n"
        "  jupyter console --kernel cellblock-python3");
    installer->callback([arguments, &run] { run = [arguments] { return install(*arguments); }; });
    CLI::App* remover =
        command->add_subcommand("remove", "Remove the kernelspecs that install made.");
    add_place(*remover, *arguments);
    remover->callback([arguments, &run] { run = [arguments] { return remove(*arguments); }; });
}

}  // namespace cellblock::gateway::cli
