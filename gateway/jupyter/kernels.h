// Kernels as Jupyter names them: a kernel is a context of some sandbox, under its own id.
//
// A kernel that Jupyter made has a sandbox of its own, which goes with it; the contexts of other
// sandboxes are kernels too, and leave their sandbox alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/json.h"
#include "gateway/jupyter/kernelspecs.h"
#include "gateway/sandboxes/sandbox_manager.h"

namespace cellblock::gateway::jupyter {

struct PlacedKernel {
    SandboxPointer sandbox;
    ContextPointer context;

    PlacedKernel(SandboxPointer sandbox_, ContextPointer context_)
        : sandbox(std::move(sandbox_)), context(std::move(context_)) {}
    kernel_proxy::Kernel& kernel() const { return *context->kernel; }
};

// Oldest sandbox first.
std::vector<PlacedKernel> list_kernels(const SandboxManager& sandboxes);
// not_found in Jupyter's words.
Result<PlacedKernel> find_kernel(const SandboxManager& sandboxes, const std::string& id);
boost::asio::awaitable<Result<void>> remove_kernel(SandboxManager& sandboxes, PlacedKernel kernel);

// POST /api/kernels.
struct NewKernel {
    std::string name;  // as asked; empty: the default
    std::map<std::string, std::string> environment;

    NewKernel() = default;
};
// Of the client's variables only KERNEL_* and those named in `allowed` count: the rest is about its
// machine.
Result<NewKernel> new_kernel_from(const Json& body, const std::vector<std::string>& allowed);
// A new sandbox with one kernel: the template's, or `other`, which lives as long as the call.
boost::asio::awaitable<Result<PlacedKernel>> create_kernel(SandboxManager& sandboxes,
                                                           SandboxSpec defaults, NewKernel wanted,
                                                           const OfferedKernel* other);

Json kernel_model(const kernel_proxy::Kernel& kernel);

}  // namespace cellblock::gateway::jupyter
