// The guest's event stream: what the agent tells without being asked. One reader per sandbox;
// events are validated and go to the handlers given.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "kernel-proxy/kernel.h"
#include "vm/link/stream.h"

namespace cellblock::kernel_proxy {

struct GuestEventHandlers {
    std::function<void(const std::string& kernel_id, const KernelDeath&)> on_kernel_died;
    std::function<void(const std::string& kernel_id, std::int64_t bytes)> on_message_dropped;
    GuestEventHandlers() = default;
};

// Reads until the stream ends. What is malformed is logged and skipped: a guest cannot break its
// host.
boost::asio::awaitable<void> read_guest_events(vm::link::StreamPtr stream,
                                               GuestEventHandlers handlers);

}  // namespace cellblock::kernel_proxy
