// `cellblock jobs`: cells that went on after their caller was let go.
#include <cstdio>

#include "gateway/cli/answers.h"
#include "gateway/cli/cell_printer.h"
#include "gateway/cli/command.h"
#include "gateway/cli/http_client.h"
#include "gateway/cli/table.h"
#include "gateway/http/uri.h"

namespace cellblock::gateway::cli {
namespace {

struct JobArguments {
    ConfigFlags flags;
    std::string job;
    std::string sandbox;  // empty: the one that the cell was started in
    bool json = false;
};

Result<HttpReply> send(const JobArguments& arguments, const char* method, std::string path,
                       const Json& body = Json()) {
    CB_TRY_ASSIGN(config, arguments.flags.load());
    CB_TRY_ASSIGN(client, HttpClient::for_gateway(config));
    HttpCall call;
    call.method = method;
    call.path = std::move(path);
    if (!body.is_null()) call.body = dump_ascii(body);
    return client.expect_success(call);
}

std::string path_of(const JobArguments& arguments) {
    return "/jobs/" + http::percent_encode(arguments.job);
}

void print_jobs(const Json& jobs) {
    std::vector<std::vector<std::string>> rows = {
        {"JOB", "STATE", "SANDBOX", "OF", "STARTED", "ENDED", "ERROR"}};
    for (const Json& job : jobs) {
        const Json error = job.value("error", Json());
        rows.push_back({text_of(job, "id"), text_of(job, "state"), text_of(job, "sandbox_id"),
                        text_of(job, "origin_sandbox_id"), text_of(job, "started_at"),
                        text_of(job, "ended_at"),
                        error.is_object() ? text_of(error, "name") : std::string()});
    }
    print_table(rows);
}

int list_jobs(const JobArguments& arguments) {
    const auto reply = send(arguments, "GET", "/jobs");
    if (!reply) return report(reply.error());
    const auto jobs = json_of(*reply);
    if (!jobs) return report(jobs.error());
    if (arguments.json) {
        std::printf("%s\n", dump_ascii(*jobs).c_str());
    } else if (jobs->empty()) {
        std::printf("There are no jobs.\n");
    } else {
        print_jobs(*jobs);
    }
    return exit_success;
}

// What it has shown so far to standard output, as `cellblock exec` prints it; how it is to standard
// error.
int get(const JobArguments& arguments) {
    const auto reply = send(arguments, "GET", path_of(arguments));
    if (!reply) return report(reply.error());
    const auto job = json_of(*reply);
    if (!job) return report(job.error());
    if (arguments.json) {
        std::printf("%s\n", dump_ascii(*job).c_str());
        return exit_success;
    }
    PrinterOptions options;
    options.folder = std::filesystem::temp_directory_path() / ("cellblock-" + arguments.job);
    CellPrinter printer(std::move(options), stdout, stderr);
    for (const Json& line : job->value("outputs", Json::array())) {
        printer.feed(dump_ascii(line) + "\n");
    }
    const std::string state = text_of(*job, "state");
    std::fprintf(stderr, "[%s]\n", state.c_str());
    return state == "failed" ? exit_failure : exit_success;
}

int remove(const JobArguments& arguments) {
    const auto reply = send(arguments, "DELETE", path_of(arguments));
    return reply ? exit_success : report(reply.error());
}

Result<std::string> origin_of(const JobArguments& arguments) {
    CB_TRY_ASSIGN(reply, send(arguments, "GET", path_of(arguments)));
    CB_TRY_ASSIGN(job, json_of(reply));
    return text_of(job, "origin_sandbox_id");
}

// Prints the id of the sandbox that has become what the job was.
int adopt(const JobArguments& arguments) {
    const auto sandbox =
        arguments.sandbox.empty() ? origin_of(arguments) : Result<std::string>(arguments.sandbox);
    if (!sandbox) return report(sandbox.error());
    const std::string path = "/sandboxes/" + http::percent_encode(*sandbox) + "/adopt";
    const auto reply = send(arguments, "POST", path, {{"job", arguments.job}});
    if (!reply) return report(reply.error());
    std::printf("%s\n", sandbox->c_str());
    return exit_success;
}

void add(CLI::App& parent, Run& run, const char* name, const char* description,
         int (*function)(const JobArguments&)) {
    auto arguments = std::make_shared<JobArguments>();
    CLI::App* command = parent.add_subcommand(name, description);
    if (function != list_jobs)
        command->add_option("job", arguments->job, "The job's id.")->required();
    if (function == adopt) {
        command
            ->add_option("--sandbox", arguments->sandbox,
                         "The sandbox to change. Default: the one that the cell was started in.")
            ->type_name("ID");
    }
    if (function == list_jobs || function == get)
        command->add_flag("--json", arguments->json, "Print JSON.");
    arguments->flags.add_to(*command, {"listen", "state_dir", "token_file"});
    command->callback([arguments, &run, function] { run = [=] { return function(*arguments); }; });
}

}  // namespace

void add_jobs(CLI::App& app, Run& run) {
    CLI::App* command =
        app.add_subcommand("jobs", "Cells that went on after their caller was let go.");
    command->require_subcommand(1);
    add(*command, run, "ls", "All jobs, newest first.", list_jobs);
    add(*command, run, "get", "What a job has shown so far, and how it is.", get);
    add(*command, run, "adopt", "Give a sandbox the variables and files of a job that has ended.",
        adopt);
    add(*command, run, "rm", "Cancel a running job; forget one that has ended.", remove);
    command->footer(
        "Exit code of get: 1 when the job has failed.\n"
        "Examples:\n"
        "  cellblock exec --detach-after 5 'train()'\n"
        "  cellblock jobs ls\n"
        "  cellblock jobs get 4kq1x8zj\n"
        "  cellblock jobs adopt 4kq1x8zj");
}

}  // namespace cellblock::gateway::cli
