// `cellblock fork`, `pause` and `resume`: one sandbox of the running gateway.
#include <cstdio>

#include "base/limits.h"
#include "gateway/cli/answers.h"
#include "gateway/cli/command.h"
#include "gateway/cli/http_client.h"
#include "gateway/http/uri.h"

namespace cellblock::gateway::cli {
namespace {

struct StateArguments {
    ConfigFlags flags;
    std::string sandbox;
    std::int64_t count = 1;
    std::int64_t timeout_s = 0;  // 0: the sandbox's own
};

Result<HttpReply> post(const StateArguments& arguments, const std::string& action,
                       const Json& body) {
    CB_TRY_ASSIGN(config, arguments.flags.load());
    CB_TRY_ASSIGN(client, HttpClient::for_gateway(config));
    HttpCall call;
    call.method = "POST";
    call.path = "/sandboxes/" + http::percent_encode(arguments.sandbox) + "/" + action;
    call.body = dump_ascii(body);
    return client.expect_success(call);
}

Json body_of(const StateArguments& arguments) {
    Json body = Json::object();
    if (arguments.timeout_s > 0) body["timeout"] = arguments.timeout_s;
    return body;
}

// One id a line, for shells; what could not be made goes to standard error.
int fork(const StateArguments& arguments) {
    Json body = body_of(arguments);
    body["count"] = arguments.count;
    const auto reply = post(arguments, "fork", body);
    if (!reply) return report(reply.error());
    const auto children = json_of(*reply);
    if (!children) return report(children.error());
    int code = exit_success;
    for (const Json& child : *children) {
        if (child.contains("sandbox")) {
            std::printf("%s\n", child["sandbox"].value("sandboxID", "").c_str());
        } else {
            const Json error = child.value("error", Json::object());
            std::fprintf(stderr, "cellblock: %s\n", error.value("message", "").c_str());
            code = exit_failure;
        }
    }
    return code;
}

int pause(const StateArguments& arguments) {
    const auto reply = post(arguments, "pause", Json::object());
    return reply ? exit_success : report(reply.error());
}

int resume(const StateArguments& arguments) {
    const auto reply = post(arguments, "resume", body_of(arguments));
    return reply ? exit_success : report(reply.error());
}

void add(CLI::App& app, Run& run, const char* name, const char* description, const char* example,
         int (*function)(const StateArguments&)) {
    auto arguments = std::make_shared<StateArguments>();
    CLI::App* command = app.add_subcommand(name, description);
    command->add_option("sandbox", arguments->sandbox, "The sandbox's id; `cellblock ps` has it.")
        ->required();
    if (function == fork) {
        command->add_option("--count", arguments->count, "How many copies.")->type_name("N");
    }
    if (function != pause) {
        command
            ->add_option("--timeout", arguments->timeout_s,
                         "Seconds that it then lives; by default its own timeout.")
            ->type_name("SECONDS");
    }
    arguments->flags.add_to(*command, {"listen", "state_dir", "token_file"});
    command->footer(example);
    command->callback([arguments, &run, function] { run = [=] { return function(*arguments); }; });
}

}  // namespace

void add_sandbox_states(CLI::App& app, Run& run) {
    add(app, run, "fork", "Copy a running sandbox, with its variables, files and running cells.",
        "Prints the ids of the copies.\nExample:\n  cellblock fork 4kq1x8zj --count 3", fork);
    add(app, run, "pause", "Keep a sandbox on disk; it costs no memory until it is resumed.",
        "Any request to it resumes it.\nExample:\n  cellblock pause 4kq1x8zj", pause);
    add(app, run, "resume", "Let a paused sandbox go on where it was.",
        "Example:\n  cellblock resume 4kq1x8zj --timeout 600", resume);
}

}  // namespace cellblock::gateway::cli
