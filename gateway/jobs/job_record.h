// What is known of a job: a cell that goes on in a copy of its sandbox, after its caller was let
// go. Values, as they stand in job.json and, without secrets, in the API. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "gateway/jobs/webhook.h"

namespace cellblock::gateway::jobs {

// failed: the cell raised, or something ended it; the error says what.
enum class JobState { running, succeeded, failed, cancelled };
std::string_view to_string(JobState state);

enum class NoticeState { none, pending, delivered, failed };
std::string_view to_string(NoticeState state);

// How far telling somebody has come.
struct NoticeProgress {
    NoticeState state = NoticeState::none;
    std::int64_t attempts = 0;
    std::string last_error;

    NoticeProgress() = default;
};

// Whom to tell when it has ended.
struct Notices {
    std::optional<Webhook> webhook;
    std::string email;  // empty: nobody

    Notices() = default;
};

struct JobRecord {
    std::string id;
    std::string execution_id;
    std::string tenant;
    std::string origin_sandbox_id;  // whose cell it was
    std::string origin_context_id;
    std::string sandbox_id;  // its own
    std::string context_id;
    JobState state = JobState::running;
    WallTime started_at;  // the cell
    WallTime created_at;  // the job
    std::optional<WallTime> ended_at;
    Json error;                       // {"name", "value", "traceback"}, or null
    Json artifacts = Json::array();   // as their lines tell of them, without previews
    std::uint64_t detached_from = 0;  // position where the caller's answer ended
    std::uint64_t output_bytes = 0;   // once it has ended
    std::uint64_t lines_dropped = 0;
    std::optional<WallTime> sandbox_until;  // its state can be adopted until then
    std::string adopted_by;
    Notices notices;
    NoticeProgress webhook;
    NoticeProgress email;

    JobRecord() = default;
};

// For the disk.
Json to_json(const JobRecord& record);
Result<JobRecord> job_record_from(const Json& json);
// For clients.
Json job_json(const JobRecord& record);

// What an artifact's line says of it, without its preview.
Json artifact_summary(const Json& line);

}  // namespace cellblock::gateway::jobs
