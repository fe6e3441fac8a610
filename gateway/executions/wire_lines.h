// The lines of POST /execute, one JSON object each: E2B's types exactly, and ours, which E2B's
// clients ignore (shared home of both so that the reference can be checked against it).
//
//   number_of_executions {execution_count}         stdout, stderr {text, timestamp}
//   result {text|html|..., extra, is_main_result}  error {name, value, traceback}
//   keepalive {}                                   end_of_execution {}
//   ours: artifact {id, kind, mime, name, size, url, preview}, display_id {display_id} of the
//         result before it, display_update {display_id, ...fields}, clear_output {wait}, truncated
//         {field?, inline_bytes, total_bytes, kept_bytes, artifact_id?, reason?}, dropped {reason},
//         detached {job_id, sandbox_id, position, url}, detach_failed {reason}
#pragma once

#include <string>
#include <string_view>

#include "artifacts/artifact.h"
#include "base/json.h"
#include "gateway/executions/display_budget.h"
#include "gateway/executions/text_budget.h"
#include "kernel-proxy/output_event.h"

namespace cellblock::gateway::wire {

Json started(const kernel_proxy::ExecutionStarted& event);
Json text(kernel_proxy::StreamName name, std::string_view text);
Json result(const kernel_proxy::Display& display, Json result_fields);
// Names the display whose result line came just before, for the updates that may follow.
Json display_id(std::string_view id);
Json error(const kernel_proxy::CellError& event);
Json clear_output(const kernel_proxy::ClearOutput& event);
Json dropped(std::string_view reason);
Json artifact(const artifacts::Artifact& artifact, const Json& preview);
Json truncated(const TruncatedText& event);
// A display's field of which the line has a part, or nothing.
Json truncated(const CutField& cut, const Result<artifacts::Artifact>& kept);
Json keepalive();
// The caller's answer ends here; the cell goes on as a job. `position`: what the caller has of its
// output.
Json detached_to(std::string_view job_id, std::string_view sandbox_id, std::uint64_t position);
// The cell goes on as it was.
Json not_detached(const Error& reason);
Json end();

// A typed end of ours as an error line: "ExecutionTimeout", "OutOfMemory", "KernelDied",
// "TooManyProcesses", "SandboxGone", "Interrupted", "ExecutionAborted", "ContextRestarting",
// "InternalError". Null for ok and error, which need none.
Json end_error(const kernel_proxy::Finished& finished);

}  // namespace cellblock::gateway::wire
