#include "vm/qemu/claim.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/limits.h"

namespace cellblock::vm {

Json claim_parameters(const ClaimRequest& request) {
    Bytes entropy(128);
    fill_random(entropy.data(), entropy.size());
    return {{"generation", wall_clock_ns()},
            {"wall_clock_ns", wall_clock_ns()},
            {"entropy_base64", base64_encode(entropy)},
            {"hostname", request.hostname},
            {"memory_limit_bytes", request.memory_limit_bytes},
            {"env", request.environment},
            {"cwd", request.working_directory}};
}

ClaimReply claim_reply(const Json& result) {
    ClaimReply reply;
    const auto error_ns = optional_integer(result, "clock_error_ns");
    if (error_ns) reply.clock_error_ns = error_ns->value_or(0);
    const auto kernels = result.find("kernels");
    if (kernels == result.end() || !kernels->is_array()) return reply;
    for (const Json& entry : *kernels) {
        if (!entry.is_object() || reply.kernels.size() >= limits::claimed_kernels_max) continue;
        ClaimedKernel kernel;
        const auto id = optional_string(entry, "kernel_id");
        const auto name = optional_string(entry, "name");
        const auto pid = optional_integer(entry, "pid");
        if (!id || !id->has_value() || !is_valid_id(**id)) continue;
        kernel.kernel_id = **id;
        kernel.name = name ? name->value_or("") : "";
        kernel.pid = pid ? pid->value_or(0) : 0;
        reply.kernels.push_back(std::move(kernel));
    }
    return reply;
}

}  // namespace cellblock::vm
