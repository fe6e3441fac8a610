#include "gateway/jupyter/kernels.h"

#include <algorithm>

#include "base/clock.h"
#include "gateway/api/context_json.h"
#include "gateway/jupyter/kernelspecs.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;

std::vector<PlacedKernel> list_kernels(const SandboxManager& sandboxes) {
    std::vector<PlacedKernel> all;
    for (const SandboxPointer& sandbox : sandboxes.list()) {
        for (const ContextPointer& context : sandbox->contexts()) {
            all.emplace_back(sandbox, context);
        }
    }
    return all;
}

Result<PlacedKernel> find_kernel(const SandboxManager& sandboxes, const std::string& id) {
    for (PlacedKernel& kernel : list_kernels(sandboxes)) {
        if (kernel.context->id() == id) return std::move(kernel);
    }
    return fail(ErrorCode::not_found, "Kernel does not exist: " + id);
}

awaitable<Result<void>> remove_kernel(SandboxManager& sandboxes, PlacedKernel kernel) {
    if (kernel.sandbox->spec().lifetime == Lifetime::of_its_kernel) {
        co_return co_await sandboxes.remove(kernel.sandbox->id());
    }
    co_return co_await kernel.sandbox->delete_context(kernel.context->id());
}

Result<NewKernel> new_kernel_from(const Json& body, const std::vector<std::string>& allowed) {
    if (!body.is_object()) {
        return fail(ErrorCode::invalid_argument, "the body must be a JSON object");
    }
    NewKernel wanted;
    CB_TRY_ASSIGN(name, optional_string(body, "name"));
    CB_TRY_ASSIGN(environment, api::environment_from(body, "env"));
    wanted.name = name.value_or("");
    for (auto& [key, value] : environment) {
        const bool passes = key.starts_with("KERNEL_") ||
                            std::find(allowed.begin(), allowed.end(), key) != allowed.end();
        if (passes) wanted.environment.emplace(key, std::move(value));
    }
    return wanted;
}

namespace {

// Starts `other`, then ends the kernel that the template brought.
awaitable<Result<ContextPointer>> exchange(Sandbox& sandbox, ContextPointer first, std::string name,
                                           const OfferedKernel& other) {
    ContextSpec spec;
    spec.language = other.language;
    spec.kernel_name = std::move(name);
    spec.launch = other.launch;
    spec.environment = other.environment;
    CB_CO_TRY_ASSIGN(context, co_await sandbox.create_context(std::move(spec)));
    CB_CO_TRY(co_await sandbox.delete_context(first->id()));
    co_return context;
}

}  // namespace

awaitable<Result<PlacedKernel>> create_kernel(SandboxManager& sandboxes, SandboxSpec defaults,
                                              NewKernel wanted, const OfferedKernel* other) {
    SandboxSpec spec = std::move(defaults);
    spec.environment = std::move(wanted.environment);
    spec.lifetime = Lifetime::of_its_kernel;
    // Ended by its client, or by culling.
    spec.timeout = limits::sandbox_timeout_max;
    CB_CO_TRY_ASSIGN(sandbox, co_await sandboxes.create(std::move(spec)));
    const ContextPointer context = sandbox->contexts().front();
    if (other == nullptr) co_return PlacedKernel(std::move(sandbox), context);
    auto started = co_await exchange(*sandbox, context, std::move(wanted.name), *other);
    if (!started) {
        (void)co_await sandboxes.remove(sandbox->id());
        co_return fail(std::move(started).error());
    }
    co_return PlacedKernel(std::move(sandbox), std::move(*started));
}

Json kernel_model(const kernel_proxy::Kernel& kernel) {
    const kernel_proxy::Channels& channels = kernel.channels();
    return Json{{"id", kernel.spec().id},
                {"name", kernel.spec().name},
                {"last_activity", iso8601(channels.last_activity())},
                {"execution_state", kernel.execution_state()},
                {"connections", channels.connections()}};
}

}  // namespace cellblock::gateway::jupyter
