#include "gateway/jobs/job_record.h"

#include <array>
#include <utility>

#include "base/ids.h"

namespace cellblock::gateway::jobs {
namespace {

constexpr std::array<std::string_view, 4> states = {"running", "succeeded", "failed", "cancelled"};
constexpr std::array<std::string_view, 4> notice_states = {"none", "pending", "delivered",
                                                           "failed"};

template <typename Enum, std::size_t size>
Result<Enum> named(const std::array<std::string_view, size>& names, const std::string& name) {
    for (std::size_t i = 0; i < size; ++i) {
        if (names[i] == name) return static_cast<Enum>(i);
    }
    return fail(ErrorCode::io, "\"" + name + "\" is not as a job was written");
}

Json stored(const std::optional<WallTime>& time) {
    return time ? Json(to_nanoseconds(*time)) : Json();
}

Json shown(const std::optional<WallTime>& time) {
    return time ? Json(iso8601(*time)) : Json();
}

Json progress_json(const NoticeProgress& progress) {
    Json json = {{"state", to_string(progress.state)}, {"attempts", progress.attempts}};
    if (!progress.last_error.empty()) json["last_error"] = progress.last_error;
    return json;
}

Result<std::optional<WallTime>> time_field(const Json& json, std::string_view field) {
    CB_TRY_ASSIGN(value, optional_integer(json, field));
    return value ? std::optional(wall_time_from(*value)) : std::nullopt;
}

Result<NoticeProgress> progress_from(const Json& json, const char* field) {
    const auto found = json.find(field);
    NoticeProgress progress;
    if (found == json.end() || !found->is_object()) return progress;
    CB_TRY_ASSIGN(state, required_string(*found, "state"));
    CB_TRY_ASSIGN(attempts, required_integer(*found, "attempts"));
    CB_TRY_ASSIGN(last_error, optional_string(*found, "last_error"));
    CB_TRY_ASSIGN(known, named<NoticeState>(notice_states, state));
    progress.state = known;
    progress.attempts = attempts;
    progress.last_error = last_error.value_or("");
    return progress;
}

Result<void> read_ids(const Json& json, JobRecord& record) {
    const std::array fields = {std::pair("id", &JobRecord::id),
                               std::pair("execution_id", &JobRecord::execution_id),
                               std::pair("origin_sandbox_id", &JobRecord::origin_sandbox_id),
                               std::pair("origin_context_id", &JobRecord::origin_context_id),
                               std::pair("sandbox_id", &JobRecord::sandbox_id),
                               std::pair("context_id", &JobRecord::context_id)};
    for (const auto& [name, member] : fields) {
        CB_TRY_ASSIGN(text, required_string(json, name));
        if (!is_valid_id(text)) return fail(ErrorCode::io, "an id of a job is not valid");
        record.*member = std::move(text);
    }
    CB_TRY_ASSIGN(tenant, required_string(json, "tenant"));
    record.tenant = std::move(tenant);
    return {};
}

Result<void> read_notices(const Json& json, JobRecord& record) {
    CB_TRY_ASSIGN(url, optional_string(json, "webhook_url"));
    CB_TRY_ASSIGN(secret, optional_string(json, "webhook_secret"));
    if (url && secret) record.notices.webhook = Webhook{std::move(*url), std::move(*secret)};
    CB_TRY_ASSIGN(email, optional_string(json, "email_to"));
    record.notices.email = email.value_or("");
    CB_TRY_ASSIGN(webhook, progress_from(json, "webhook"));
    CB_TRY_ASSIGN(mail, progress_from(json, "email"));
    record.webhook = std::move(webhook);
    record.email = std::move(mail);
    return {};
}

Json common_json(const JobRecord& record) {
    return {{"id", record.id},
            {"state", to_string(record.state)},
            {"execution_id", record.execution_id},
            {"sandbox_id", record.sandbox_id},
            {"context_id", record.context_id},
            {"origin_sandbox_id", record.origin_sandbox_id},
            {"origin_context_id", record.origin_context_id},
            {"error", record.error},
            {"artifacts", record.artifacts},
            {"detached_from", record.detached_from},
            {"lines_dropped", record.lines_dropped}};
}

}  // namespace

std::string_view to_string(JobState state) {
    return states.at(static_cast<std::size_t>(state));
}

std::string_view to_string(NoticeState state) {
    return notice_states.at(static_cast<std::size_t>(state));
}

Json artifact_summary(const Json& line) {
    Json summary = line;
    summary.erase("type");
    summary.erase("preview");
    return summary;
}

Json to_json(const JobRecord& record) {
    Json json = common_json(record);
    json["tenant"] = record.tenant;
    json["started_at_ns"] = to_nanoseconds(record.started_at);
    json["created_at_ns"] = to_nanoseconds(record.created_at);
    json["ended_at_ns"] = stored(record.ended_at);
    json["sandbox_until_ns"] = stored(record.sandbox_until);
    json["output_bytes"] = record.output_bytes;
    json["adopted_by"] = record.adopted_by;
    // Kept until the receiver has it: a new gateway tells it then.
    if (record.notices.webhook && record.webhook.state == NoticeState::pending) {
        json["webhook_secret"] = record.notices.webhook->secret;
    }
    if (record.notices.webhook) json["webhook_url"] = record.notices.webhook->url;
    if (!record.notices.email.empty()) json["email_to"] = record.notices.email;
    json["webhook"] = progress_json(record.webhook);
    json["email"] = progress_json(record.email);
    return json;
}

Result<JobRecord> job_record_from(const Json& json) {
    if (!json.is_object()) return fail(ErrorCode::io, "a job's record is no object");
    JobRecord record;
    CB_TRY(read_ids(json, record));
    CB_TRY(read_notices(json, record));
    CB_TRY_ASSIGN(state_name, required_string(json, "state"));
    CB_TRY_ASSIGN(state, named<JobState>(states, state_name));
    CB_TRY_ASSIGN(started, required_integer(json, "started_at_ns"));
    CB_TRY_ASSIGN(created, required_integer(json, "created_at_ns"));
    CB_TRY_ASSIGN(ended, time_field(json, "ended_at_ns"));
    CB_TRY_ASSIGN(until, time_field(json, "sandbox_until_ns"));
    CB_TRY_ASSIGN(detached_from, required_count(json, "detached_from"));
    CB_TRY_ASSIGN(output_bytes, required_count(json, "output_bytes"));
    CB_TRY_ASSIGN(lines_dropped, required_count(json, "lines_dropped"));
    CB_TRY_ASSIGN(adopted_by, required_string(json, "adopted_by"));
    const auto artifacts = json.find("artifacts");
    if (artifacts == json.end() || !artifacts->is_array()) {
        return fail(ErrorCode::io, "a job's artifacts are no list");
    }
    record.state = state;
    record.started_at = wall_time_from(started);
    record.created_at = wall_time_from(created);
    record.ended_at = ended;
    record.sandbox_until = until;
    record.detached_from = detached_from;
    record.output_bytes = output_bytes;
    record.lines_dropped = lines_dropped;
    record.adopted_by = std::move(adopted_by);
    record.artifacts = *artifacts;
    record.error = json.value("error", Json());
    return record;
}

Json job_json(const JobRecord& record) {
    Json json = common_json(record);
    json["started_at"] = iso8601(record.started_at);
    json["created_at"] = iso8601(record.created_at);
    json["ended_at"] = shown(record.ended_at);
    json["sandbox_until"] = shown(record.sandbox_until);
    json["adopted_by"] = record.adopted_by.empty() ? Json() : Json(record.adopted_by);
    json["url"] = "/jobs/" + record.id;
    json["webhook"] = Json();
    if (record.notices.webhook) {
        json["webhook"] = progress_json(record.webhook);
        json["webhook"]["url"] = record.notices.webhook->url;
    }
    json["email"] = Json();
    if (!record.notices.email.empty()) {
        json["email"] = progress_json(record.email);
        json["email"]["to"] = record.notices.email;
    }
    return json;
}

}  // namespace cellblock::gateway::jobs
