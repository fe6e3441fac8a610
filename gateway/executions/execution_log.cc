#include "gateway/executions/execution_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/limits.h"

namespace cellblock::gateway {
namespace {

namespace fs = std::filesystem;

// The request and the lines within their budgets, escaped twice in the worst case.
constexpr std::size_t log_max_bytes = 512 * limits::MiB;

std::string text_of(const Json& record) {
    return dump_ascii(record) + "\n";
}

Json to_json(const RecorderState& state) {
    return {{"inline", state.text.inline_bytes},
            {"total", state.text.total_bytes},
            {"kept", state.text.kept_bytes},
            {"text_left", state.displays_left.text_bytes},
            {"rich_left", state.displays_left.rich_bytes},
            {"displays", state.display_count}};
}

Result<RecorderState> recorder_state_from(const Json& json) {
    RecorderState state;
    CB_TRY_ASSIGN(inline_bytes, required_count(json, "inline"));
    CB_TRY_ASSIGN(total, required_count(json, "total"));
    CB_TRY_ASSIGN(kept, required_count(json, "kept"));
    CB_TRY_ASSIGN(text_left, required_count(json, "text_left"));
    CB_TRY_ASSIGN(rich_left, required_count(json, "rich_left"));
    CB_TRY_ASSIGN(displays, required_count(json, "displays"));
    state.text.inline_bytes = inline_bytes;
    state.text.total_bytes = total;
    state.text.kept_bytes = kept;
    state.displays_left.text_bytes = text_left;
    state.displays_left.rich_bytes = rich_left;
    state.display_count = displays;
    return state;
}

Result<void> read_header(const Json& json, LoggedExecution& execution) {
    CB_TRY_ASSIGN(id, required_string(json, "id"));
    CB_TRY_ASSIGN(code, required_string(json, "code"));
    CB_TRY_ASSIGN(timeout, required_integer(json, "timeout_ms"));
    CB_TRY_ASSIGN(sandbox_id, required_string(json, "sandbox_id"));
    CB_TRY_ASSIGN(context_id, required_string(json, "context_id"));
    CB_TRY_ASSIGN(tenant, required_string(json, "tenant"));
    CB_TRY_ASSIGN(created, required_integer(json, "created_at_ns"));
    const auto environment = json.find("env");
    if (!is_valid_id(id) || timeout < 0 || environment == json.end() || !environment->is_object()) {
        return fail(ErrorCode::io, "an execution's log does not say what was asked");
    }
    for (const auto& [name, value] : environment->items()) {
        if (value.is_string()) execution.request.environment[name] = value.get<std::string>();
    }
    execution.request.id = std::move(id);
    execution.request.code = std::move(code);
    execution.request.timeout = std::chrono::milliseconds(timeout);
    execution.sandbox_id = std::move(sandbox_id);
    execution.context_id = std::move(context_id);
    execution.tenant = std::move(tenant);
    execution.created_at = wall_time_from(created);
    return {};
}

Result<void> read_sent(const Json& json, LoggedExecution& execution) {
    CB_TRY_ASSIGN(header, required_string(json, "header"));
    CB_TRY_ASSIGN(deadline, required_integer(json, "deadline_ns"));
    CB_TRY_ASSIGN(position, required_count(json, "position"));
    execution.header = std::move(header);
    execution.deadline = wall_time_from(deadline);
    execution.position = position;
    return {};
}

Result<void> read_record(const Json& json, LoggedExecution& execution) {
    if (!json.is_object()) return fail(ErrorCode::io, "an execution's log has no records");
    if (const auto header = json.find("h"); header != json.end() && header->is_object()) {
        return read_header(*header, execution);
    }
    if (const auto sent = json.find("s"); sent != json.end() && sent->is_object()) {
        return read_sent(*sent, execution);
    }
    if (json.contains("a")) {
        CB_TRY_ASSIGN(status, required_string(json, "a"));
        execution.reply = std::move(status);
        return {};
    }
    CB_TRY_ASSIGN(position, required_count(json, "p"));
    execution.position = position;
    const auto lines = json.find("l");
    if (lines == json.end()) return {};
    execution.heard = true;
    if (!lines->is_array()) return fail(ErrorCode::io, "an execution's log has no lines");
    for (const Json& line : *lines) {
        if (!line.is_object()) return fail(ErrorCode::io, "an execution's log has no lines");
        const std::string type = line.value("type", "");
        execution.ended = type == "end_of_execution";
        if (type == "error") execution.raised = true;
        execution.lines.push_back(dump_ascii(line));
    }
    if (const auto state = json.find("r"); state != json.end() && state->is_object()) {
        CB_TRY_ASSIGN(recorder, recorder_state_from(*state));
        execution.recorder = recorder;
    }
    return {};
}

}  // namespace

std::filesystem::path log_path(const fs::path& folder, const std::string& id) {
    return folder / (id + ".log");
}
std::filesystem::path done_path(const fs::path& folder, const std::string& id) {
    return folder / (id + ".done");
}

std::string header_record(const LoggedExecution& execution) {
    Json record = Json::object();
    record["h"] = {{"id", execution.request.id},
                   {"code", execution.request.code},
                   {"env", execution.request.environment},
                   {"timeout_ms", execution.request.timeout.count()},
                   {"sandbox_id", execution.sandbox_id},
                   {"context_id", execution.context_id},
                   {"tenant", execution.tenant},
                   {"created_at_ns", to_nanoseconds(execution.created_at)}};
    return text_of(record);
}

std::string sent_record(std::string_view header, WallTime deadline, std::uint64_t position) {
    Json record = Json::object();
    record["s"] = {
        {"header", header}, {"deadline_ns", to_nanoseconds(deadline)}, {"position", position}};
    return text_of(record);
}

std::string position_record(std::uint64_t position) {
    Json record = Json::object();
    record["p"] = position;
    return text_of(record);
}

std::string reply_record(std::string_view status) {
    Json record = Json::object();
    record["a"] = status;
    return text_of(record);
}

std::string lines_record(std::uint64_t position, const std::vector<std::string>& lines,
                         const RecorderState& state) {
    std::string text = "{\"p\":" + std::to_string(position) + ",\"l\":[";
    for (const std::string& line : lines) {
        if (text.back() != '[') text += ',';
        text += line;
    }
    return text + "],\"r\":" + dump_ascii(to_json(state)) + "}\n";
}

Result<LoggedExecution> read_execution_log(const fs::path& path) {
    CB_TRY_ASSIGN(text, read_file(path, log_max_bytes));
    LoggedExecution execution;
    std::string_view rest = text;
    for (std::size_t end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
        CB_TRY_ASSIGN(record, parse_json(rest.substr(0, end), JsonLimits{log_max_bytes},
                                         "a record of an execution"));
        CB_TRY(read_record(record, execution));
        rest.remove_prefix(end + 1);
    }
    if (execution.request.id.empty()) return fail(ErrorCode::io, "an execution's log is empty");
    return execution;
}

// --- the open end --------------------------------------------------------------------------------

Result<ExecutionLog> ExecutionLog::create(const fs::path& folder, const std::string& id,
                                          std::string_view header) {
    CB_TRY_ASSIGN(fd,
                  open_file(log_path(folder, id), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600));
    ExecutionLog log(folder, id, std::move(fd));
    CB_TRY(log.append(header));
    return log;
}

Result<ExecutionLog> ExecutionLog::reopen(const fs::path& folder, const std::string& id) {
    const fs::path path = log_path(folder, id);
    CB_TRY_ASSIGN(text, read_file(path, log_max_bytes));
    CB_TRY_ASSIGN(fd, open_file(path, O_WRONLY | O_APPEND));
    const std::size_t end = text.rfind('\n');
    const std::size_t whole = end == text.npos ? 0 : end + 1;
    if (::ftruncate(fd.get(), static_cast<off_t>(whole)) != 0) {
        return fail(error_from_errno(errno, "cut " + path.string()));
    }
    return ExecutionLog(folder, id, std::move(fd));
}

Result<void> ExecutionLog::append(std::string_view record) {
    return write_all(fd_.get(), record);
}

Result<void> ExecutionLog::append_text(std::string_view text) {
    if (!text_) {
        CB_TRY_ASSIGN(opened, open_file(text_path(), O_WRONLY | O_CREAT | O_APPEND, 0600));
        text_ = std::move(opened);
    }
    return write_all(text_.get(), text);
}

Result<void> ExecutionLog::copy_text_of(const std::string& other_id) {
    std::error_code error;
    const bool copied = fs::copy_file(folder_ / (other_id + ".text"), text_path(), error);
    if (!copied) return fail(ErrorCode::io, "copy an execution's text: " + error.message());
    return {};
}

Result<std::string> ExecutionLog::restore_text(std::uint64_t bytes) {
    if (bytes == 0) return std::string();
    CB_TRY_ASSIGN(text, read_file(text_path(), 2 * limits::execution_spill_max_bytes));
    if (text.size() < bytes) return fail(ErrorCode::io, "an execution's text is shorter than said");
    text.resize(bytes);
    if (::truncate(text_path().c_str(), static_cast<off_t>(bytes)) != 0) {
        return fail(error_from_errno(errno, "cut " + text_path().string()));
    }
    return text;
}

Result<void> ExecutionLog::finish() {
    std::error_code ignored;
    fs::remove(text_path(), ignored);
    std::error_code error;
    fs::rename(log_path(folder_, id_), done_path(folder_, id_), error);
    if (error)
        return fail(ErrorCode::io, "could not finish an execution's log: " + error.message());
    return {};
}

}  // namespace cellblock::gateway
