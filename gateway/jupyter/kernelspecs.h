// The kernels that guests offer, as Jupyter lists them, with their pictures. Constant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/json.h"

namespace cellblock::gateway::jupyter {

inline constexpr std::string_view default_kernel_name = "python3";

// {"default": ..., "kernelspecs": {name: {"name", "spec", "resources"}}}
Json kernelspecs_json();
// One of them; std::nullopt for a name that there is not (aliases are names too).
std::optional<Json> kernelspec_json(const std::string& name);

// "python" -> "python3", whatever the case; std::nullopt: there is none.
std::optional<std::string> resolve_kernel_name(std::string_view name);

struct KernelResource {
    std::string content_type;
    std::string body;

    KernelResource() = default;
};
std::optional<KernelResource> kernel_resource(const std::string& kernel, std::string_view file);

}  // namespace cellblock::gateway::jupyter
