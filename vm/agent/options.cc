#include "vm/agent/options.h"

#include <unistd.h>

#include <cstdlib>

namespace cellblock::vm::agent {

std::string usage() {
    return "cellblock-agent: the guest's end of a Cellblock microVM.\n"
           "Without options it is the guest's first process. On a host, for tests:\n"
           "  cellblock-agent --root-less --socket PATH [--run-dir DIR] [--python FILE]\n"
           "                  [--python-path DIRS]\n"
           "  --root-less        no mounts, cgroups, clock, entropy: kernels run as the caller\n"
           "  --socket PATH      the Unix socket to listen on (the host's end connects)\n"
           "  --run-dir DIR      sockets and connection files; short, for Unix socket paths\n"
           "  --python FILE      the interpreter that has ipykernel\n"
           "  --python-path DIRS PYTHONPATH: where cellblock_kernel and its sisters are\n";
}

namespace {

Result<void> take_option(Options& options, const std::string& name, const std::string& value) {
    if (name == "--socket") {
        options.socket = value;
    } else if (name == "--run-dir") {
        options.run_dir = value;
    } else if (name == "--python") {
        options.python = value;
    } else if (name == "--python-path") {
        options.python_path = value;
    } else {
        return fail(ErrorCode::invalid_argument, "unknown option " + name, "see --help");
    }
    return {};
}

void fit_to_caller(Options& options) {
    options.uid = ::getuid();
    options.gid = ::getgid();
    if (const char* home = std::getenv("HOME")) options.home = home;
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
    Options options;
    for (const std::string& argument : arguments) {
        if (argument == "--root-less" || argument == "--rootless") options.mode = Mode::rootless;
    }
    if (options.mode == Mode::guest) return options;
    fit_to_caller(options);
    options.run_dir.clear();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--root-less" || arguments[i] == "--rootless") continue;
        if (i + 1 == arguments.size()) {
            return fail(ErrorCode::invalid_argument, arguments[i] + " needs a value", "see --help");
        }
        CB_TRY(take_option(options, arguments[i], arguments[i + 1]));
        ++i;
    }
    if (options.socket.empty()) {
        return fail(ErrorCode::invalid_argument, "--root-less needs --socket PATH");
    }
    if (options.run_dir.empty()) options.run_dir = options.socket.string() + ".run";
    return options;
}

std::map<std::string, std::string> python_environment(const Options& options) {
    std::map<std::string, std::string> environment = {
        {"HOME", options.home},
        {"PATH", options.home + "/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:"
                                "/usr/sbin:/sbin"},
        {"LANG", "C.UTF-8"},
        {"PYTHONPATH", options.python_path},
        {"OPENBLAS_NUM_THREADS", "1"},
        {"OMP_NUM_THREADS", "1"},
    };
    if (options.mode == Mode::guest) {
        environment["USER"] = environment["LOGNAME"] = "user";
        environment["SHELL"] = "/bin/bash";
    }
    return environment;
}

}  // namespace cellblock::vm::agent
