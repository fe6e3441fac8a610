// The messages that an execution needs, between JSON and our types. Pure functions; every reader
// takes bytes of a hostile guest and answers guest_protocol instead of trusting them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "kernel-proxy/execution.h"
#include "kernel-proxy/message.h"
#include "kernel-proxy/output_event.h"

namespace cellblock::kernel_proxy {

struct KernelDeath;

// execute_request on shell: the code verbatim; the environment of this execution travels in the
// message's metadata ("cellblock"), where the guest's kernel class takes it from, so that no line
// of the user's code moves.
Request execute_request(const std::string& session, const ExecuteRequest& request);

// An iopub message of the running cell: an event, or `idle`, or neither (busy, comms, unknown
// types).
struct Output {
    std::optional<OutputEvent> event;
    bool idle = false;
};
Result<Output> read_output(const KernelMessage& message, const Routing& routing);

enum class ReplyStatus { ok, error, aborted };
std::string_view to_string(ReplyStatus status);
std::optional<ReplyStatus> reply_status_from(std::string_view name);
struct ExecuteReply {
    ReplyStatus status = ReplyStatus::ok;
    std::optional<CellError> error;  // for a kernel that reports an error only here
};
Result<ExecuteReply> read_execute_reply(const KernelMessage& message);

// How a typed end is told to people.
Outcome outcome_of(const KernelDeath& death);
Error describe(const KernelDeath& death);
Error timeout_error(std::chrono::milliseconds timeout);

}  // namespace cellblock::kernel_proxy
