// `cellblock exec`: runs code in a sandbox of the running gateway and prints what it shows.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>

#include "base/files.h"
#include "base/ids.h"
#include "base/limits.h"
#include "gateway/cli/cell_printer.h"
#include "gateway/cli/command.h"
#include "gateway/cli/http_client.h"

namespace cellblock::gateway::cli {
namespace {

struct ExecArguments {
    ConfigFlags flags;
    std::string code;
    std::string file;
    std::string sandbox;
    std::string context;
    std::string language;
    std::string output_dir;
    std::vector<std::string> environment;
    double timeout_s = 0;
    double detach_after_s = 0;
    bool llm_view = false;
};

Result<std::string> code_of(const ExecArguments& arguments) {
    if (!arguments.file.empty() && !arguments.code.empty()) {
        return fail(ErrorCode::invalid_argument, "code was given twice, as argument and as file",
                    "give one of them");
    }
    if (!arguments.file.empty()) {
        return read_file(arguments.file, limits::execution_code_max_bytes);
    }
    if (!arguments.code.empty() && arguments.code != "-") return arguments.code;
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
}

Result<Json> body_of(const ExecArguments& arguments, std::string code) {
    Json body = {{"code", std::move(code)}};
    if (!arguments.context.empty()) body["context_id"] = arguments.context;
    if (!arguments.language.empty()) body["language"] = arguments.language;
    if (arguments.timeout_s > 0) body["timeout"] = arguments.timeout_s;
    if (arguments.detach_after_s > 0) body["detach_after"] = arguments.detach_after_s;
    if (arguments.llm_view) body["view"] = "llm";
    for (const std::string& pair : arguments.environment) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0) {
            return fail(ErrorCode::invalid_argument, "\"" + pair + "\" is no NAME=VALUE");
        }
        body["env_vars"][pair.substr(0, equals)] = pair.substr(equals + 1);
    }
    return body;
}

PrinterOptions printer_options(const std::filesystem::path& folder, HttpClient& client) {
    PrinterOptions options;
    options.folder = folder;
    options.base_url = client.url();
    winsize size{};
    const bool terminal = ::isatty(STDOUT_FILENO) == 1;
    if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        options.columns = size.ws_col;
    }
    options.is_colored = terminal && std::getenv("NO_COLOR") == nullptr;
    options.fetch = [&client](const std::string& path) -> std::optional<std::string> {
        HttpCall call;
        call.path = path;
        auto reply = client.expect_success(call);
        return reply ? std::optional(std::move(reply->body)) : std::nullopt;
    };
    return options;
}

int exec(const ExecArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) return report(config.error());
    auto code = code_of(arguments);
    if (!code) return report(code.error());
    const auto body = body_of(arguments, std::move(*code));
    if (!body) return report(body.error());
    auto client = HttpClient::for_gateway(*config);
    if (!client) return report(client.error());

    const std::filesystem::path folder =
        arguments.output_dir.empty()
            ? std::filesystem::temp_directory_path() / ("cellblock-" + new_short_id(8))
            : std::filesystem::absolute(arguments.output_dir);
    // A client of its own for what is fetched while the first one streams.
    auto second = HttpClient::for_gateway(*config);
    if (!second) return report(second.error());
    CellPrinter printer(printer_options(folder, *second), stdout, stderr);
    HttpCall call;
    call.method = "POST";
    call.path = "/execute";
    call.body = body->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (!arguments.sandbox.empty()) call.headers.push_back("E2b-Sandbox-Id: " + arguments.sandbox);
    const bool document = arguments.llm_view;
    call.on_data = [&printer, document](std::string_view bytes) {
        if (document) {
            std::fwrite(bytes.data(), 1, bytes.size(), stdout);
        } else {
            printer.feed(bytes);
        }
    };
    const auto reply = client->expect_success(call);
    if (!reply) return report(reply.error());
    if (document) {
        const auto outcome = reply->headers.find("cellblock-execution");
        const bool failed = outcome == reply->headers.end() || outcome->second != "ok";
        return failed ? exit_failure : exit_success;
    }
    if (!printer.ended()) {
        return report(Error(ErrorCode::connection_lost, "the answer ended before the cell did",
                            "the sandbox may have ended: try again"));
    }
    return printer.failed() ? exit_failure : exit_success;
}

}  // namespace

void add_exec(CLI::App& app, Run& run) {
    auto arguments = std::make_shared<ExecArguments>();
    CLI::App* command = app.add_subcommand("exec", "Run code in a sandbox of the running gateway.");
    command->add_option("code", arguments->code, "The code; - or nothing: from standard input.");
    command->add_option("-f,--file", arguments->file, "Read the code from this file.")
        ->type_name("FILE");
    command
        ->add_option("--sandbox", arguments->sandbox,
                     "Run in this sandbox (see cellblock ps). Default: your default sandbox, which "
                     "is made when there is none and keeps its variables.")
        ->type_name("ID");
    command->add_option("--context", arguments->context, "Run in this context of the sandbox.")
        ->type_name("ID");
    command->add_option("--language", arguments->language,
                        "Language of the code. Default: python.");
    command->add_option("--timeout", arguments->timeout_s, "Seconds that the code may run.")
        ->type_name("S");
    command
        ->add_option(
            "--detach-after", arguments->detach_after_s,
            "Seconds to wait for the code; if it still runs then, it goes on as a job (see "
            "cellblock jobs), and the sandbox is free again.")
        ->type_name("S");
    command
        ->add_option("-e,--env", arguments->environment,
                     "Environment variable for this run; may be repeated.")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    command
        ->add_option("-o,--output-dir", arguments->output_dir,
                     "Folder for pictures. Default: a new one in the temporary folder.")
        ->type_name("DIR");
    command->add_flag("--llm", arguments->llm_view,
                      "Print one compact Markdown document, made for language models.");
    arguments->flags.add_to(*command, {"listen", "state_dir", "token_file"});
    command->footer(
        "Exit code: 0, or 1 when the code raised an error or the gateway could not run it.\n"
        "Ctrl-C interrupts the code.\n"
        "Examples:\n"
        "  cellblock exec 'print(6 * 7)'\n"
        "  cellblock exec --file analysis.py --output-dir plots\n"
        "  echo 'import pandas as pd; pd.DataFrame({\"a\": [1, 2]})' | cellblock exec -");
    command->callback([arguments, &run] { run = [arguments] { return exec(*arguments); }; });
}

}  // namespace cellblock::gateway::cli
