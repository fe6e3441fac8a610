// A context of a sandbox: a kernel in its microVM.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel-proxy/kernel.h"

namespace cellblock::gateway {

// A kernel and how it is called outside. Language names as E2B writes them ("python").
struct Context {
    std::string language;
    std::shared_ptr<kernel_proxy::Kernel> kernel;
    // What it was called in the sandboxes that this one is a copy of.
    std::vector<std::string> former_ids;

    const std::string& id() const { return kernel->spec().id; }
    const std::string& working_directory() const { return kernel->spec().working_directory; }
};
using ContextPointer = std::shared_ptr<Context>;

struct ContextSpec {
    std::string language = "python";
    std::string working_directory = "/home/user";
    // Another kernel of the image than the language's own.
    std::string kernel_name;
    kernel_proxy::KernelLaunch launch;
    std::map<std::string, std::string> environment;  // beside the sandbox's
    ContextSpec() = default;
};

}  // namespace cellblock::gateway
