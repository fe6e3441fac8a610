// `cellblock artifacts`: what cells have shown, listed, fetched, pinned, linked to and removed.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/ids.h"
#include "base/limits.h"
#include "gateway/cli/answers.h"
#include "gateway/cli/command.h"
#include "gateway/cli/http_client.h"
#include "gateway/cli/table.h"
#include "gateway/http/uri.h"

namespace cellblock::gateway::cli {
namespace {

struct ArtifactArguments {
    ConfigFlags flags;
    std::vector<std::string> ids;
    std::string sandbox;
    std::string execution;
    std::string output;
    std::string format;
    std::int64_t expires_s = 3600;
    std::int64_t max_age_s = -1;
    std::int64_t max_mib = -1;
    bool json = false;
};

Result<HttpClient> connect(const ArtifactArguments& arguments) {
    CB_TRY_ASSIGN(config, arguments.flags.load());
    return HttpClient::for_gateway(config);
}

std::string path_of(const std::string& id) {
    return "/artifacts/" + http::percent_encode(id);
}

// An answer's JSON. A null `body` is none.
Result<Json> ask(HttpClient& client, const char* method, std::string path, const Json& body) {
    HttpCall call;
    call.method = method;
    call.path = std::move(path);
    if (!body.is_null()) call.body = dump_ascii(body);
    CB_TRY_ASSIGN(reply, client.expect_success(call));
    if (reply.body.empty()) return Json();
    return json_of(reply);
}

// Newest first, as the gateway lists them.
Result<Json> all_artifacts(HttpClient& client, const ArtifactArguments& arguments) {
    Json all = Json::array();
    while (true) {
        std::string path = "/artifacts?limit=" + std::to_string(limits::artifact_list_max) +
                           "&offset=" + std::to_string(all.size());
        path += "&sandbox_id=" + http::percent_encode(arguments.sandbox);
        path += "&execution_id=" + http::percent_encode(arguments.execution);
        CB_TRY_ASSIGN(page, ask(client, "GET", std::move(path), Json()));
        if (!page.is_array()) return fail(ErrorCode::io, "the gateway's answer is no list");
        for (Json& artifact : page) all.push_back(std::move(artifact));
        if (page.size() < limits::artifact_list_max) return all;
    }
}

void print_artifacts(const Json& artifacts) {
    std::vector<std::vector<std::string>> rows = {
        {"ARTIFACT", "KIND", "NAME", "BYTES", "CREATED", "SANDBOX", "PINNED"}};
    for (const Json& artifact : artifacts) {
        const bool pinned = artifact.value("pinned", false);
        rows.push_back({text_of(artifact, "id"), text_of(artifact, "kind"),
                        text_of(artifact, "name"), text_of(artifact, "size"),
                        text_of(artifact, "created_at"), text_of(artifact, "sandbox_id"),
                        pinned ? "yes" : ""});
    }
    print_table(rows);
}

Result<void> list(HttpClient& client, const ArtifactArguments& arguments) {
    CB_TRY_ASSIGN(artifacts, all_artifacts(client, arguments));
    if (arguments.json) {
        std::printf("%s\n", dump_ascii(artifacts).c_str());
    } else if (artifacts.empty()) {
        std::printf("There are no artifacts.\n");
    } else {
        print_artifacts(artifacts);
    }
    return {};
}

// Where a fetched artifact goes. A file appears, or is replaced, when all of it is there; standard
// output, devices and pipes take it as it comes. What was there before a failure stays.
class Destination {
  public:
    explicit Destination(const std::string& name) : name_(name) {
        std::error_code ignored;
        const auto status = std::filesystem::status(name_, ignored);
        is_apart_ = name != "-" && (!exists(status) || is_regular_file(status));
        written_ = name == "-" ? "/dev/stdout" : name_;
        if (is_apart_) written_ += "." + new_short_id(8) + ".part";
        file_.open(written_, std::ios::binary);
        if (!file_) errno_ = errno;
    }
    Destination(const Destination&) = delete;
    Destination& operator=(const Destination&) = delete;
    ~Destination() {
        std::error_code ignored;
        if (is_apart_ && !finished_) std::filesystem::remove(written_, ignored);
    }

    void write(std::string_view piece) {
        file_.write(piece.data(), static_cast<std::streamsize>(piece.size()));
        if (!file_ && errno_ == 0) errno_ = errno;
    }
    Result<void> finish() {
        file_.close();
        if (!file_) {
            return fail(error_from_errno(errno_ == 0 ? errno : errno_, "write " + name_.string()));
        }
        std::error_code error;
        if (is_apart_) std::filesystem::rename(written_, name_, error);
        if (error) return fail(error_from_errno(error.value(), "write " + name_.string()));
        finished_ = true;
        return {};
    }

  private:
    std::filesystem::path name_;
    std::filesystem::path written_;
    std::ofstream file_;
    int errno_ = 0;
    bool is_apart_ = false;
    bool finished_ = false;
};

// Its own name in this folder, where no file has it.
Result<std::string> own_name(HttpClient& client, const ArtifactArguments& arguments) {
    CB_TRY_ASSIGN(found, ask(client, "GET", path_of(arguments.ids.front()) + "/info", Json()));
    // The gateway keeps only names that are safe as file names.
    const std::filesystem::path own = std::filesystem::path(text_of(found, "name")).filename();
    std::string name =
        arguments.format.empty() ? own.string() : own.stem().string() + "." + arguments.format;
    if (name.empty() || std::filesystem::exists(name)) {
        return fail(ErrorCode::conflict, "there is a file " + name + " here already",
                    "choose another name with --output");
    }
    return name;
}

Result<void> get(HttpClient& client, const ArtifactArguments& arguments) {
    HttpCall call;
    call.path = path_of(arguments.ids.front());
    if (!arguments.format.empty()) call.path += "." + http::percent_encode(arguments.format);
    std::string name = arguments.output;
    if (name.empty()) {
        CB_TRY_ASSIGN(own, own_name(client, arguments));
        name = std::move(own);
    }
    Destination destination(name);
    call.on_data = [&destination](std::string_view piece) { destination.write(piece); };
    CB_TRY(client.expect_success(call));
    CB_TRY(destination.finish());
    if (name != "-") std::printf("%s\n", name.c_str());
    return {};
}

Result<void> remove(HttpClient& client, const ArtifactArguments& arguments) {
    Result<void> all;
    for (const std::string& id : arguments.ids) {
        // One that is not there does not keep the others.
        const auto removed = ask(client, "DELETE", path_of(id), Json());
        if (!removed && all) all = fail(removed.error().in("removing " + id));
    }
    return all;
}

Result<void> set_pinned(HttpClient& client, const ArtifactArguments& arguments, bool pinned) {
    for (const std::string& id : arguments.ids) {
        CB_TRY(ask(client, "PATCH", path_of(id), Json{{"pinned", pinned}}));
    }
    return {};
}
Result<void> pin(HttpClient& client, const ArtifactArguments& arguments) {
    return set_pinned(client, arguments, true);
}
Result<void> unpin(HttpClient& client, const ArtifactArguments& arguments) {
    return set_pinned(client, arguments, false);
}

Result<void> link(HttpClient& client, const ArtifactArguments& arguments) {
    const Json body = {{"expires_s", arguments.expires_s}};
    CB_TRY_ASSIGN(made, ask(client, "POST", path_of(arguments.ids.front()) + "/link", body));
    std::printf("%s%s\n", client.url().c_str(), text_of(made, "url").c_str());
    return {};
}

Result<void> collect(HttpClient& client, const ArtifactArguments& arguments) {
    Json body = Json::object();
    if (arguments.max_age_s >= 0) body["max_age_s"] = arguments.max_age_s;
    if (arguments.max_mib >= 0) {
        body["max_bytes"] = static_cast<std::uint64_t>(arguments.max_mib) * limits::MiB;
    }
    CB_TRY_ASSIGN(done, ask(client, "POST", "/artifacts/gc", body));
    std::printf("%s artifacts removed\n", text_of(done, "removed").c_str());
    return {};
}

using Function = Result<void> (*)(HttpClient&, const ArtifactArguments&);

int run_with_client(const ArtifactArguments& arguments, Function function) {
    auto client = connect(arguments);
    if (!client) return report(client.error());
    const auto done = function(*client, arguments);
    return done ? exit_success : report(done.error());
}

struct Command {
    CLI::App* app;
    std::shared_ptr<ArtifactArguments> arguments;
};

Command add(CLI::App& parent, Run& run, const char* name, const char* description,
            Function function) {
    auto arguments = std::make_shared<ArtifactArguments>();
    CLI::App* app = parent.add_subcommand(name, description);
    arguments->flags.add_to(*app, {"listen", "state_dir", "token_file"});
    app->callback([arguments, &run, function] {
        run = [arguments, function] { return run_with_client(*arguments, function); };
    });
    return {app, arguments};
}

void take_ids(const Command& command, int at_most) {
    command.app->add_option("artifact", command.arguments->ids, "Ids of artifacts.")
        ->required()
        ->expected(1, at_most);
}

}  // namespace

void add_artifacts(CLI::App& app, Run& run) {
    CLI::App* group = app.add_subcommand(
        "artifacts", "List, fetch, pin, link to and remove what cells have shown.");
    group->require_subcommand(1);
    constexpr int many = 1000;
    const Command ls = add(*group, run, "ls", "All artifacts, newest first.", list);
    ls.app->add_option("--sandbox", ls.arguments->sandbox, "Only this sandbox's.")->type_name("ID");
    ls.app->add_option("--execution", ls.arguments->execution, "Only this execution's.")
        ->type_name("ID");
    ls.app->add_flag("--json", ls.arguments->json, "Print the list as JSON.");
    const Command fetch = add(*group, run, "get", "Save an artifact's content as a file.", get);
    take_ids(fetch, 1);
    fetch.app->add_option("-o,--output", fetch.arguments->output,
                          "The file; - is standard output. Default: the artifact's name.");
    fetch.app->add_option("--as", fetch.arguments->format,
                          "Convert a table: csv, json, parquet, arrow, xlsx, md or html.");
    take_ids(add(*group, run, "rm", "Remove artifacts, and their content with the last of them.",
                 remove),
             many);
    take_ids(add(*group, run, "pin", "Keep artifacts whatever their age and size.", pin), many);
    take_ids(add(*group, run, "unpin", "Let artifacts go when their time comes.", unpin), many);
    const Command share =
        add(*group, run, "link", "Print a link that works without the token.", link);
    take_ids(share, 1);
    share.app->add_option("--expires", share.arguments->expires_s, "Seconds that it works.")
        ->type_name("S");
    const Command gc = add(*group, run, "gc", "Remove what is past its time now.", collect);
    gc.app->add_option("--max-age", gc.arguments->max_age_s,
                       "Seconds; what is older goes. Default: artifacts_keep_days.");
    gc.app->add_option("--max-mib", gc.arguments->max_mib,
                       "MiB; past it the oldest go. Default: artifacts_max_mib.");
    group->footer(
        "Examples:\n"
        "  cellblock artifacts ls --sandbox 4kq1x8zj\n"
        "  cellblock artifacts get 9f2c... --as csv -o sales.csv\n"
        "  cellblock artifacts link 9f2c... --expires 600\n"
        "  cellblock artifacts gc --max-age 86400");
}

}  // namespace cellblock::gateway::cli
