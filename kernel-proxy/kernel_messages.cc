#include "kernel-proxy/kernel_messages.h"

#include <cstdio>
#include <utility>

#include "kernel-proxy/kernel.h"

namespace cellblock::kernel_proxy {
namespace {

std::string mebibytes(std::int64_t bytes) {
    char text[40];
    std::snprintf(text, sizeof text, "%.0f MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
    return text;
}

Json object_or_empty(const Json& content, const char* field) {
    const auto at = content.find(field);
    return at != content.end() && at->is_object() ? *at : Json::object();
}

std::string string_or_empty(const Json& content, const char* field) {
    const auto at = content.find(field);
    return at != content.end() && at->is_string() ? at->get<std::string>() : std::string();
}

CellError read_error(const Json& content) {
    CellError error;
    error.name = string_or_empty(content, "ename");
    error.value = string_or_empty(content, "evalue");
    const auto traceback = content.find("traceback");
    if (traceback != content.end() && traceback->is_array()) {
        for (const Json& line : *traceback) {
            if (line.is_string()) error.traceback.push_back(line.get<std::string>());
        }
    }
    return error;
}

Display read_display(const Json& content, DisplayKind kind) {
    Display display;
    display.kind = kind;
    display.data = object_or_empty(content, "data");
    display.metadata = object_or_empty(content, "metadata");
    display.display_id = string_or_empty(object_or_empty(content, "transient"), "display_id");
    return display;
}

}  // namespace

Request execute_request(const std::string& session, const ExecuteRequest& request) {
    // stop_on_error would skip what others have queued in the kernel; of ours only one is there.
    const Json content = {{"code", request.code},  {"silent", false},
                          {"store_history", true}, {"user_expressions", Json::object()},
                          {"allow_stdin", false},  {"stop_on_error", false}};
    const Json metadata = {
        {"cellblock", {{"execution_id", request.id}, {"env", request.environment}}}};
    return make_request(Channel::shell, "execute_request", session, content, metadata);
}

Result<Output> read_output(const KernelMessage& message, const Routing& routing) {
    CB_TRY_ASSIGN(content, read_content(message));
    const std::string& type = routing.msg_type;
    Output output;
    if (type == "status") {
        output.idle = string_or_empty(content, "execution_state") == "idle";
    } else if (type == "stream") {
        const bool is_error = string_or_empty(content, "name") == "stderr";
        output.event =
            StreamText{is_error ? StreamName::standard_error : StreamName::standard_output,
                       string_or_empty(content, "text")};
    } else if (type == "execute_input") {
        CB_TRY_ASSIGN(count, optional_integer(content, "execution_count"));
        output.event = ExecutionStarted{count.value_or(0)};
    } else if (type == "display_data") {
        output.event = read_display(content, DisplayKind::display);
    } else if (type == "execute_result") {
        output.event = read_display(content, DisplayKind::result);
    } else if (type == "update_display_data") {
        output.event = read_display(content, DisplayKind::update);
    } else if (type == "clear_output") {
        CB_TRY_ASSIGN(wait, optional_boolean(content, "wait"));
        output.event =
            ClearOutput{wait.value_or(false) ? ClearWhen::with_next_output : ClearWhen::now};
    } else if (type == "error") {
        output.event = read_error(content);
    }
    return output;
}

Result<ExecuteReply> read_execute_reply(const KernelMessage& message) {
    CB_TRY_ASSIGN(content, read_content(message));
    CB_TRY_ASSIGN(status, required_string(content, "status"));
    ExecuteReply reply;
    if (status == "ok") return reply;
    // Kernels before protocol 5.1 say "abort".
    reply.status =
        status == "aborted" || status == "abort" ? ReplyStatus::aborted : ReplyStatus::error;
    if (reply.status == ReplyStatus::error) reply.error = read_error(content);
    return reply;
}

std::string_view to_string(ReplyStatus status) {
    switch (status) {
        case ReplyStatus::ok:
            return "ok";
        case ReplyStatus::error:
            return "error";
        case ReplyStatus::aborted:
            return "aborted";
    }
    return "error";
}

std::optional<ReplyStatus> reply_status_from(std::string_view name) {
    for (const ReplyStatus status : {ReplyStatus::ok, ReplyStatus::error, ReplyStatus::aborted}) {
        if (name == to_string(status)) return status;
    }
    return std::nullopt;
}

Outcome outcome_of(const KernelDeath& death) {
    if (death.processes_max > 0) return Outcome::too_many_processes;
    return death.out_of_memory ? Outcome::out_of_memory : Outcome::kernel_died;
}

Error describe(const KernelDeath& death) {
    if (death.processes_max > 0) {
        return Error(
            ErrorCode::kernel_died,
            "the cell started more than " + std::to_string(death.processes_max) +
                " processes; they were killed with its kernel, which was restarted, and its "
                "variables are gone",
            "start fewer processes at a time; threads are not counted");
    }
    if (death.out_of_memory) {
        return Error(ErrorCode::out_of_memory,
                     "the cell used more memory than the sandbox has: peak " +
                         mebibytes(death.peak_bytes) + ", limit " + mebibytes(death.limit_bytes) +
                         "; the kernel was restarted and its variables are gone",
                     "load less data at once, or make a sandbox with more memory");
    }
    return Error(
        ErrorCode::kernel_died,
        "the kernel process ended (" + death.how + "); it was restarted and its variables are gone",
        "run the cells that define what you need again");
}

Error timeout_error(std::chrono::milliseconds timeout) {
    char text[32];
    std::snprintf(text, sizeof text, "%g s", static_cast<double>(timeout.count()) / 1000.0);
    return Error(ErrorCode::timeout, std::string("the cell ran longer than its timeout of ") + text,
                 "give a larger `timeout`, or make the cell do less");
}

}  // namespace cellblock::kernel_proxy
