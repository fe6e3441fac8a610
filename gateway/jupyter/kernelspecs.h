// The kernels that guests offer, as Jupyter lists them, with their pictures: python3, forked from
// the template's own, and what else the guest's image has kernelspecs for. Owner: Door.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/json.h"
#include "kernel-proxy/kernel_launch.h"

namespace cellblock::gateway::jupyter {

inline constexpr std::string_view default_kernel_name = "python3";

// "python" and "python3", whatever the case.
bool is_python_kernel(std::string_view name);

struct OfferedKernel {
    std::string display_name;
    std::string language;
    kernel_proxy::KernelLaunch launch;
    std::map<std::string, std::string> environment;

    OfferedKernel() = default;
};

struct KernelResource {
    std::string content_type;
    std::string body;

    KernelResource() = default;
};

class Kernelspecs {
  public:
    // `others`: what the image has beside python3, by name in lower case.
    explicit Kernelspecs(std::map<std::string, OfferedKernel> others = {});

    // {"default": ..., "kernelspecs": {name: {"name", "spec", "resources"}}}
    Json list(const std::string& default_name) const;
    // One of them; std::nullopt for a name that there is not (aliases are names too).
    std::optional<Json> find(std::string_view name) const;
    // "Python" -> "python3"; std::nullopt: there is none.
    std::optional<std::string> resolve(std::string_view name) const;
    std::optional<KernelResource> resource(std::string_view name, std::string_view file) const;
    // How a resolved name is started; null: it is python3.
    const OfferedKernel* other(const std::string& name) const;

  private:
    std::map<std::string, OfferedKernel> others_;
};

}  // namespace cellblock::gateway::jupyter
