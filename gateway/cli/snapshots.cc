// `cellblock snapshots`: list them as a tree, make, start, restore and delete.
#include <cstdio>
#include <map>
#include <set>

#include "base/limits.h"
#include "gateway/cli/answers.h"
#include "gateway/cli/command.h"
#include "gateway/cli/http_client.h"
#include "gateway/cli/table.h"
#include "gateway/http/uri.h"

namespace cellblock::gateway::cli {
namespace {

struct SnapshotArguments {
    ConfigFlags flags;
    std::string sandbox;
    std::string snapshot;
    std::string name;
    std::string on_timeout = "kill";
    std::int64_t timeout_s = 0;  // 0: the gateway's default
    bool json = false;
};

Result<HttpClient> connect(const SnapshotArguments& arguments) {
    CB_TRY_ASSIGN(config, arguments.flags.load());
    return HttpClient::for_gateway(config);
}

std::string mib_of(const Json& snapshot, const char* field) {
    return std::to_string(snapshot.value(field, std::uint64_t{0}) / limits::MiB);
}

using Children = std::map<std::string, std::vector<const Json*>>;

void add_rows(const Children& children, const std::string& parent, const std::string& indent,
              std::vector<std::vector<std::string>>& rows) {
    const auto found = children.find(parent);
    if (found == children.end() || rows.size() > limits::snapshots_max) return;
    for (const Json* snapshot : found->second) {
        const std::string id = text_of(*snapshot, "snapshotID");
        std::string name;
        for (const Json& entry : snapshot->value("names", Json::array())) {
            if (entry.is_string()) name = entry.get<std::string>();
        }
        rows.push_back({indent + id, name, text_of(*snapshot, "sandboxID"),
                        text_of(*snapshot, "createdAt"), mib_of(*snapshot, "memoryBytes"),
                        mib_of(*snapshot, "diskBytes")});
        add_rows(children, id, indent + "  ", rows);
    }
}

// Each below the one that it came after; those whose parent was deleted are roots.
void print_tree(const Json& snapshots) {
    std::set<std::string> ids;
    for (const Json& snapshot : snapshots) ids.insert(text_of(snapshot, "snapshotID"));
    Children children;
    for (auto at = snapshots.rbegin(); at != snapshots.rend(); ++at) {
        const std::string parent = text_of(*at, "parentID");
        children[ids.contains(parent) ? parent : ""].push_back(&*at);
    }
    std::vector<std::vector<std::string>> rows = {
        {"SNAPSHOT", "NAME", "SANDBOX", "CREATED", "MEMORY_MIB", "DISK_MIB"}};
    add_rows(children, "", "", rows);
    print_table(rows);
}

int list_snapshots(const SnapshotArguments& arguments) {
    auto client = connect(arguments);
    if (!client) return report(client.error());
    const auto snapshots = all_pages(*client, "/snapshots?limit=100");
    if (!snapshots) return report(snapshots.error());
    if (arguments.json) {
        std::printf("%s\n", dump_ascii(*snapshots).c_str());
    } else if (snapshots->empty()) {
        std::printf("There are no snapshots.\n");
    } else {
        print_tree(*snapshots);
    }
    return exit_success;
}

Result<HttpReply> send(const SnapshotArguments& arguments, const char* method, std::string path,
                       const Json& body) {
    CB_TRY_ASSIGN(client, connect(arguments));
    HttpCall call;
    call.method = method;
    call.path = std::move(path);
    if (!body.is_null()) call.body = dump_ascii(body);
    return client.expect_success(call);
}

int create(const SnapshotArguments& arguments) {
    Json body = Json::object();
    if (!arguments.name.empty()) body["name"] = arguments.name;
    const std::string path = "/sandboxes/" + http::percent_encode(arguments.sandbox) + "/snapshots";
    const auto reply = send(arguments, "POST", path, body);
    if (!reply) return report(reply.error());
    const auto made = json_of(*reply);
    if (!made) return report(made.error());
    std::printf("%s\n", text_of(*made, "snapshotID").c_str());
    return exit_success;
}

int start(const SnapshotArguments& arguments) {
    Json body = {{"templateID", arguments.snapshot}, {"on_timeout", arguments.on_timeout}};
    if (arguments.timeout_s > 0) body["timeout"] = arguments.timeout_s;
    const auto reply = send(arguments, "POST", "/sandboxes", body);
    if (!reply) return report(reply.error());
    const auto made = json_of(*reply);
    if (!made) return report(made.error());
    std::printf("%s\n", text_of(*made, "sandboxID").c_str());
    return exit_success;
}

int restore(const SnapshotArguments& arguments) {
    const Json body = {{"snapshot", arguments.snapshot}};
    const std::string path = "/sandboxes/" + http::percent_encode(arguments.sandbox) + "/restore";
    const auto reply = send(arguments, "POST", path, body);
    return reply ? exit_success : report(reply.error());
}

int remove(const SnapshotArguments& arguments) {
    const std::string path = "/snapshots/" + http::percent_encode(arguments.snapshot);
    const auto reply = send(arguments, "DELETE", path, Json());
    return reply ? exit_success : report(reply.error());
}

enum class Wants { nothing, sandbox, snapshot, both };

CLI::App* add(CLI::App& parent, Run& run, const char* name, const char* description, Wants wants,
              int (*function)(const SnapshotArguments&)) {
    auto arguments = std::make_shared<SnapshotArguments>();
    CLI::App* command = parent.add_subcommand(name, description);
    if (wants == Wants::sandbox || wants == Wants::both) {
        command->add_option("sandbox", arguments->sandbox, "The sandbox's id.")->required();
    }
    if (wants == Wants::snapshot || wants == Wants::both) {
        command->add_option("snapshot", arguments->snapshot, "The snapshot's id or name.")
            ->required();
    }
    if (function == create) {
        command->add_option("--name", arguments->name, "A name to find it by.")->type_name("TEXT");
    }
    if (function == start) {
        command->add_option("--timeout", arguments->timeout_s, "Seconds that it then lives.")
            ->type_name("SECONDS");
        command->add_option("--on-timeout", arguments->on_timeout, "What happens then.")
            ->check(CLI::IsMember({"pause", "kill"}))
            ->type_name("pause|kill");
    }
    if (function == list_snapshots)
        command->add_flag("--json", arguments->json, "Print the list as JSON.");
    arguments->flags.add_to(*command, {"listen", "state_dir", "token_file"});
    command->callback([arguments, &run, function] { run = [=] { return function(*arguments); }; });
    return command;
}

}  // namespace

void add_snapshots(CLI::App& app, Run& run) {
    CLI::App* command = app.add_subcommand(
        "snapshots", "List, make, start, restore and delete snapshots of sandboxes.");
    command->require_subcommand(1);
    add(*command, run, "ls", "All snapshots, each below the one that it came after.",
        Wants::nothing, list_snapshots);
    add(*command, run, "create", "Keep a sandbox as it is now; prints the snapshot's id.",
        Wants::sandbox, create);
    add(*command, run, "start", "Make a new sandbox from a snapshot; prints the sandbox's id.",
        Wants::snapshot, start);
    add(*command, run, "restore", "Let a sandbox become again what a snapshot holds.", Wants::both,
        restore);
    add(*command, run, "rm", "Delete a snapshot. Sandboxes made from it are not touched.",
        Wants::snapshot, remove);
    command->footer(
        "Examples:\n"
        "  cellblock snapshots create 4kq1x8zj --name warmed-up\n"
        "  cellblock snapshots ls\n"
        "  cellblock snapshots start warmed-up --on-timeout pause\n"
        "  cellblock snapshots restore 4kq1x8zj warmed-up");
}

}  // namespace cellblock::gateway::cli
