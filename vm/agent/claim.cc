#include "vm/agent/claim.h"

#include "base/base64.h"
#include "base/limits.h"
#include "base/log.h"
#include "vm/agent/agent.h"
#include "vm/agent/guest_identity.h"

namespace cellblock::vm::agent {
namespace {

constexpr std::int64_t clock_tolerance_ns = 1'000'000;

struct ClaimRequest {
    std::int64_t generation = 0;
    std::int64_t wall_clock_ns = 0;
    Bytes entropy;
    std::string hostname;
    std::int64_t memory_limit_bytes = 0;
    std::map<std::string, std::string> environment;
    std::string working_directory;

    ClaimRequest() = default;
};

Result<ClaimRequest> parse_claim(const Json& params) {
    ClaimRequest request;
    CB_TRY_ASSIGN(generation, optional_integer(params, "generation"));
    CB_TRY_ASSIGN(wall_clock_ns, required_integer(params, "wall_clock_ns"));
    CB_TRY_ASSIGN(entropy_text, required_string(params, "entropy_base64"));
    CB_TRY_ASSIGN(entropy, base64_decode(entropy_text));
    CB_TRY_ASSIGN(hostname, required_string(params, "hostname"));
    CB_TRY_ASSIGN(memory_limit_bytes, required_integer(params, "memory_limit_bytes"));
    CB_TRY_ASSIGN(environment, parse_environment(params));
    CB_TRY_ASSIGN(working_directory, optional_string(params, "cwd"));
    request.generation = generation.value_or(0);
    request.wall_clock_ns = wall_clock_ns;
    request.entropy = std::move(entropy);
    request.hostname = std::move(hostname);
    request.memory_limit_bytes = memory_limit_bytes;
    request.environment = std::move(environment);
    request.working_directory = working_directory.value_or("");
    if (request.entropy.size() < 64) {
        return fail(ErrorCode::invalid_argument, "entropy_base64 has to hold at least 64 bytes");
    }
    if (!is_valid_hostname(request.hostname)) {
        return fail(ErrorCode::invalid_argument, "hostname has to be 1 to 63 of [A-Za-z0-9-]");
    }
    constexpr auto least = static_cast<std::int64_t>(limits::agent_memory_limit_min_bytes);
    if (request.memory_limit_bytes < least) {
        return fail(ErrorCode::invalid_argument,
                    "memory_limit_bytes has to be at least " + std::to_string(least));
    }
    return request;
}

// The steps below user space. How far the clock was off.
Result<std::int64_t> renew_guest(Agent& agent, const ClaimRequest& request) {
    CB_TRY(add_entropy(request.entropy));
    CB_TRY_ASSIGN(step, set_clock(request.wall_clock_ns, clock_tolerance_ns));
    CB_TRY(set_hostname(request.hostname));
    CB_TRY(renew_machine_id());
    const auto limit = static_cast<std::uint64_t>(request.memory_limit_bytes);
    CB_TRY(agent.cgroups()->set_memory_limit(limit));
    return step.error_ns;
}

}  // namespace

Result<std::map<std::string, std::string>> parse_environment(const Json& params) {
    std::map<std::string, std::string> environment;
    const auto found = params.find("env");
    if (found == params.end() || found->is_null()) return environment;
    if (!found->is_object()) {
        return fail(ErrorCode::invalid_argument, "env has to be an object of strings");
    }
    for (const auto& [name, value] : found->items()) {
        if (!value.is_string()) {
            return fail(ErrorCode::invalid_argument, "env." + name + " has to be a string");
        }
        const std::string text = value.get<std::string>();
        if (name.empty() || name.find('=') != std::string::npos ||
            name.find('\0') != std::string::npos || text.find('\0') != std::string::npos) {
            return fail(ErrorCode::invalid_argument,
                        "env has a name or value that no process can carry: " + name);
        }
        environment.emplace(name, text);
    }
    return environment;
}

boost::asio::awaitable<Result<Json>> claim(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(request, parse_claim(params));
    for (const auto& failure : agent.report().failures) {
        co_return fail(failure.error.in("the guest's boot step \"" + failure.step + "\" failed"));
    }
    std::int64_t clock_error_ns = 0;
    if (agent.options().mode == Mode::guest) {
        CB_CO_TRY_ASSIGN(error_ns, renew_guest(agent, request));
        clock_error_ns = error_ns;
    }
    agent.kernels().set_sandbox(std::move(request.environment),
                                std::move(request.working_directory));
    CB_CO_TRY(co_await agent.kernels().reseed_all());
    log::info("claimed", {{"generation", request.generation},
                          {"clock_error_ns", clock_error_ns},
                          {"memory_limit_bytes", request.memory_limit_bytes}});
    co_return Json{{"clock_error_ns", clock_error_ns}, {"kernels", agent.kernels().list()}};
}

boost::asio::awaitable<Result<Json>> answer_clock(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(step_by_ns, required_integer(params, "step_by_ns"));
    if (agent.options().mode == Mode::guest && step_by_ns != 0) {
        CB_CO_TRY(shift_clock(step_by_ns));
    }
    co_return Json{{"guest_ns", wall_clock_ns()}};
}

}  // namespace cellblock::vm::agent
