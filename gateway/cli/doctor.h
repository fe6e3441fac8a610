// The checks behind `cellblock doctor`: what this machine has, lacks, and how to mend it.
//
// Blocking; at start-up and in the CLI only.
#pragma once

#include <string>
#include <vector>

#include "gateway/config/config.h"

namespace cellblock::gateway::cli {

enum class CheckVerdict {
    good,
    note,     // works, with a drawback worth knowing
    missing,  // something required is not there
};

struct Check {
    CheckVerdict verdict = CheckVerdict::good;
    std::string subject;  // "QEMU"
    std::string finding;  // one sentence
    std::string remedy;   // the exact command or change; empty when nothing is to be done

    Check(CheckVerdict verdict_, std::string subject_, std::string finding_,
          std::string remedy_ = {})
        : verdict(verdict_),
          subject(std::move(subject_)),
          finding(std::move(finding_)),
          remedy(std::move(remedy_)) {}
};

Check check_qemu();
Check check_accelerator(const config::Config& config);
Check check_jail();
Check check_memory(const config::Config& config);
Check check_disk(const config::Config& config);
Check check_packages();
Check check_image(const config::Config& config);
Check check_gateway(const config::Config& config);

// "apt-get install a b", with sudo unless this is root.
std::string install_command(const std::vector<std::string>& packages);

}  // namespace cellblock::gateway::cli
