// A sandbox at one moment: what its copies start from. Values only; the machine's state is shared.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/limits.h"
#include "kernel-proxy/kernel.h"
#include "vm/link/link_image.h"
#include "vm/machine/machine_state.h"

namespace cellblock::gateway {

enum class OnTimeout { kill, pause };
// A sandbox that was made for one kernel goes with it.
enum class Lifetime { of_its_own, of_its_kernel };

struct SandboxSpec {
    std::string template_id = "default";
    std::size_t memory_limit_bytes = limits::sandbox_memory_default_bytes;
    std::chrono::seconds timeout = limits::sandbox_timeout_default;
    std::map<std::string, std::string> environment;
    std::map<std::string, std::string> metadata;  // the caller's own labels
    OnTimeout on_timeout = OnTimeout::kill;
    Lifetime lifetime = Lifetime::of_its_own;
    // The snapshot that the sandbox was made from, or restored to, or that was made of it last:
    // the parent of its next one. Empty: none.
    std::string snapshot_id;
    SandboxSpec() = default;
};

struct ContextImage {
    std::string language;
    kernel_proxy::KernelImage kernel;
    std::vector<std::string> former_ids;
    bool is_default = false;
    ContextImage() = default;
};

struct SandboxImage {
    SandboxSpec spec;
    std::vector<ContextImage> contexts;
    vm::link::LinkImage link;
    vm::MachineStatePointer machine;
    SandboxImage() = default;
};

}  // namespace cellblock::gateway
