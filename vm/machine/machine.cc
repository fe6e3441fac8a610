#include "vm/machine/machine.h"

namespace cellblock::vm {

std::string_view to_string(AcceleratorKind kind) {
    return kind == AcceleratorKind::kvm ? "kvm" : "tcg";
}

std::string_view to_string(IsolationTier tier) {
    return tier == IsolationTier::hardware ? "hardware" : "reduced";
}

std::string_view to_string(ExitReason reason) {
    switch (reason) {
        case ExitReason::killed:
            return "killed";
        case ExitReason::guest_shutdown:
            return "guest_shutdown";
        case ExitReason::accelerator_error:
            return "accelerator_error";
        case ExitReason::guest_protocol:
            return "guest_protocol";
        case ExitReason::process_died:
            return "process_died";
    }
    return "unknown";
}

}  // namespace cellblock::vm
