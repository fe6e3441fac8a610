#include "gateway/executions/wire_lines.h"

#include <utility>

#include "base/clock.h"

namespace cellblock::gateway::wire {

using kernel_proxy::DisplayKind;
using kernel_proxy::Outcome;
using kernel_proxy::StreamName;

Json started(const kernel_proxy::ExecutionStarted& event) {
    return Json{{"type", "number_of_executions"}, {"execution_count", event.execution_count}};
}

Json text(StreamName name, std::string_view text) {
    return Json{{"type", name == StreamName::standard_error ? "stderr" : "stdout"},
                {"text", text},
                {"timestamp", iso8601_now()}};
}

Json result(const kernel_proxy::Display& display, Json result_fields) {
    Json line = std::move(result_fields);
    if (display.kind == DisplayKind::update) {
        line["type"] = "display_update";
    } else {
        line["type"] = "result";
        line["is_main_result"] = display.kind == DisplayKind::result;
    }
    // A display id on a plain result would show up in the JavaScript SDK's `extra`: a line of its
    // own follows there.
    if (display.kind == DisplayKind::update) line["display_id"] = display.display_id;
    return line;
}

Json display_id(std::string_view id) {
    return Json{{"type", "display_id"}, {"display_id", id}};
}

namespace {

// IPython's parts mostly lack their line ends.
std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) {
        if (!text.empty() && text.back() != '\n') text.push_back('\n');
        text += part;
    }
    return text;
}

}  // namespace

Json error(const kernel_proxy::CellError& event) {
    return Json{{"type", "error"},
                {"name", event.name},
                {"value", event.value},
                {"traceback", joined(event.traceback)}};
}

Json clear_output(const kernel_proxy::ClearOutput& event) {
    return Json{{"type", "clear_output"},
                {"wait", event.when == kernel_proxy::ClearWhen::with_next_output}};
}

Json dropped(std::string_view reason) {
    return Json{{"type", "dropped"}, {"reason", reason}};
}

Json artifact(const artifacts::Artifact& artifact, const Json& preview) {
    Json line = artifacts::to_json(artifact);
    line.erase("metadata");
    line["type"] = "artifact";
    line["preview"] = preview;
    return line;
}

Json truncated(const TruncatedText& event) {
    Json line = {{"type", "truncated"},
                 {"inline_bytes", event.inline_bytes},
                 {"total_bytes", event.total_bytes},
                 {"kept_bytes", event.kept_bytes}};
    if (event.artifact) line["artifact_id"] = event.artifact->id;
    if (!event.artifact) line["reason"] = event.error.text();
    return line;
}

Json truncated(const CutField& cut, const Result<artifacts::Artifact>& kept) {
    Json line = {{"type", "truncated"},
                 {"field", cut.field},
                 {"inline_bytes", cut.inline_bytes},
                 {"total_bytes", cut.total_bytes},
                 {"kept_bytes", kept ? kept->size_bytes : 0}};
    if (kept) line["artifact_id"] = kept->id;
    if (!kept) line["reason"] = kept.error().text();
    return line;
}

Json keepalive() {
    return Json{{"type", "keepalive"}};
}
Json detached_to(std::string_view job_id, std::string_view sandbox_id, std::uint64_t position) {
    return Json{{"type", "detached"},
                {"job_id", job_id},
                {"sandbox_id", sandbox_id},
                {"position", position},
                {"url", "/jobs/" + std::string(job_id)}};
}
Json not_detached(const Error& reason) {
    return Json{{"type", "detach_failed"}, {"reason", reason.text()}};
}
Json end() {
    return Json{{"type", "end_of_execution"}};
}

namespace {

std::string_view name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::ok:
        case Outcome::error:
            return "";
        case Outcome::aborted:
            return "ExecutionAborted";
        case Outcome::interrupted:
        case Outcome::cancelled:
            return "Interrupted";
        case Outcome::restarted:
            return "ContextRestarting";
        case Outcome::timeout:
            return "ExecutionTimeout";
        case Outcome::kernel_died:
            return "KernelDied";
        case Outcome::out_of_memory:
            return "OutOfMemory";
        case Outcome::too_many_processes:
            return "TooManyProcesses";
        case Outcome::sandbox_gone:
            return "SandboxGone";
        case Outcome::internal:
            return "InternalError";
    }
    return "InternalError";
}

}  // namespace

Json end_error(const kernel_proxy::Finished& finished) {
    const std::string_view name = name_of(finished.outcome);
    if (name.empty()) return nullptr;
    return Json{{"type", "error"},
                {"name", name},
                {"value", finished.error.text()},
                {"traceback", joined(finished.traceback)}};
}

}  // namespace cellblock::gateway::wire
