#include "kernel-proxy/activity.h"

namespace cellblock::kernel_proxy {
namespace {

// Requests that only look.
bool is_looking(std::string_view msg_type) {
    for (const std::string_view prefix :
         {"comm_info_", "kernel_info_", "shutdown_", "interrupt_", "debug_"}) {
        if (msg_type.starts_with(prefix)) return true;
    }
    return false;
}

}  // namespace

void Activity::note(const Routing& routing, StatusKind status) {
    // Without a parent it is the kernel's own word ("starting"), not somebody's use of it.
    if (routing.parent_msg_id.empty() || is_looking(routing.parent_msg_type)) return;
    last_ = std::chrono::system_clock::now();
    if (status == StatusKind::idle) busy_.erase(routing.parent_msg_id);
    if (status != StatusKind::busy) return;
    // A guest that never says idle must not grow this; what it claims is then the same anyway.
    if (busy_.size() < limits::client_requests_open_max) busy_.insert(routing.parent_msg_id);
}

void Activity::note_request(const std::string& msg_type) {
    if (!is_looking(msg_type)) last_ = std::chrono::system_clock::now();
}

}  // namespace cellblock::kernel_proxy
