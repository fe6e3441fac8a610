// `cellblock doctor`: says what this machine lacks to run sandboxes, and how to mend it.
#include <cstdio>

#include "gateway/cli/command.h"
#include "gateway/cli/doctor.h"

namespace cellblock::gateway::cli {
namespace {

struct DoctorArguments {
    ConfigFlags flags;
};

int doctor(const DoctorArguments& arguments) {
    auto config = arguments.flags.load();
    if (!config) return report(config.error());
    bool usable = true;
    const auto show = [&usable](const Check& check) {
        const char* mark = "ok     ";
        if (check.verdict == CheckVerdict::note) mark = "note   ";
        if (check.verdict == CheckVerdict::missing) mark = "MISSING";
        usable = usable && check.verdict != CheckVerdict::missing;
        std::printf("%s  %-9s %s\n", mark, check.subject.c_str(), check.finding.c_str());
        if (!check.remedy.empty()) std::printf("%19s-> %s\n", "", check.remedy.c_str());
        std::fflush(stdout);
    };
    show(check_packages());
    show(check_qemu());
    show(check_accelerator(*config));
    show(check_jail());
    show(check_memory(*config));
    show(check_disk(*config));
    show(check_image(*config));
    show(check_gateway(*config));
    std::printf(usable ? "This machine can run sandboxes.\n"
                       : "Something required is missing: see the lines marked MISSING.\n");
    return usable ? exit_success : exit_failure;
}

}  // namespace

void add_doctor(CLI::App& app, Run& run) {
    auto arguments = std::make_shared<DoctorArguments>();
    CLI::App* command =
        app.add_subcommand("doctor", "Say what this machine lacks to run sandboxes.");
    arguments->flags.add_to(
        *command, {"listen", "state_dir", "cache_dir", "token_file", "accelerator", "pool_size"});
    command->footer(
        "Exit code: 0 when sandboxes can run here, 1 when something required is missing.\n"
        "Example:\n"
        "  cellblock doctor --accelerator kvm");
    command->callback([arguments, &run] { run = [arguments] { return doctor(*arguments); }; });
}

}  // namespace cellblock::gateway::cli
