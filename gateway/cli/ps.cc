// `cellblock ps`: the sandboxes of the running gateway, paused ones too.
#include <cstdio>

#include "gateway/cli/answers.h"
#include "gateway/cli/command.h"
#include "gateway/cli/http_client.h"
#include "gateway/cli/table.h"

namespace cellblock::gateway::cli {
namespace {

struct PsArguments {
    ConfigFlags flags;
    bool json = false;
};

void print_sandboxes(const Json& sandboxes) {
    const std::vector<std::pair<const char*, const char*>> columns = {
        {"SANDBOX", "sandboxID"}, {"TEMPLATE", "templateID"}, {"STATE", "state"},
        {"STARTED", "startedAt"}, {"ENDS", "endAt"},          {"MEMORY_MIB", "memoryMB"},
        {"METADATA", "metadata"}};
    std::vector<std::vector<std::string>> rows(1);
    for (const auto& [title, field] : columns) rows[0].emplace_back(title);
    for (const Json& sandbox : sandboxes) {
        std::vector<std::string> row;
        for (const auto& [title, field] : columns) row.push_back(text_of(sandbox, field));
        rows.push_back(std::move(row));
    }
    print_table(rows);
}

int ps(const PsArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) return report(config.error());
    auto client = HttpClient::for_gateway(*config);
    if (!client) return report(client.error());
    const auto sandboxes = all_pages(*client, "/v2/sandboxes?order=asc&limit=100");
    if (!sandboxes) return report(sandboxes.error());
    if (arguments.json) {
        std::printf("%s\n", dump_ascii(*sandboxes).c_str());
    } else if (sandboxes->empty()) {
        std::printf("There are no sandboxes.\n");
    } else {
        print_sandboxes(*sandboxes);
    }
    return exit_success;
}

}  // namespace

void add_ps(CLI::App& app, Run& run) {
    auto arguments = std::make_shared<PsArguments>();
    CLI::App* command = app.add_subcommand("ps", "List the sandboxes of the running gateway.");
    command->add_flag("--json", arguments->json, "Print the list as JSON.");
    arguments->flags.add_to(*command, {"listen", "state_dir", "token_file"});
    command->footer(
        "The gateway is found by CELLBLOCK_URL, else by --listen and the configuration; its token\n"
        "by CELLBLOCK_TOKEN, else in the token file.\n"
        "Examples:\n"
        "  cellblock ps\n"
        "  CELLBLOCK_URL=https://box.example.org cellblock ps --json");
    command->callback([arguments, &run] { run = [arguments] { return ps(*arguments); }; });
}

}  // namespace cellblock::gateway::cli
