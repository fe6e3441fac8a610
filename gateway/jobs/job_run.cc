// The life of a job: from the cell that is let go of to its end, and who is told.
#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "base/unicode.h"
#include "gateway/executions/wire_lines.h"
#include "gateway/jobs/jobs.h"

namespace cellblock::gateway::jobs {

namespace asio = boost::asio;
using kernel_proxy::ExecutionState;

namespace {

Json shortened(const Json& error) {
    Json kept = Json::object();
    for (const char* field : {"name", "value", "traceback"}) {
        const std::string text = error.value(field, "");
        kept[field] = std::string(cut_utf8(text, job_error_max_bytes));
    }
    return kept;
}

bool is_vital(const std::string& type) {
    return type == "error" || type == "end_of_execution";
}

// One write to the output; what comes faster goes in pieces.
constexpr std::size_t lines_at_once_max_bytes = 256 * limits::KiB;

std::string line_of(const Json& json) {
    return dump_ascii(json) + "\n";
}

std::string mail_text(const JobRecord& record) {
    std::string text = "Job " + record.id + " has ended: " + std::string(to_string(record.state)) +
                       ".\n\n" + "Began " + iso8601(record.started_at) + "\nEnded " +
                       iso8601(record.ended_at.value_or(record.started_at)) + "\nArtifacts " +
                       std::to_string(record.artifacts.size()) + "\n";
    if (record.error.is_object()) {
        text +=
            "\n" + record.error.value("name", "") + ": " + record.error.value("value", "") + "\n";
    }
    return text + "\nGET /jobs/" + record.id + " of the gateway has its output.\n";
}

}  // namespace

asio::awaitable<Result<JobPointer>> Jobs::detach(DetachRequest request) {
    Result<JobPointer> job = JobPointer();
    if (const auto room = check_room(); room) {
        ++beginning_;
        job = co_await copy(request);
        --beginning_;
        changed_.notify_all();
    } else {
        job = fail(room.error());
    }
    if (!job) {
        failed_counter_.Increment();
        log::warning("detach_failed",
                     {{"sandbox_id", request.sandbox->id()}, {"error", job.error().text()}});
        co_return fail(job.error().in("letting go of the cell"));
    }
    co_return job;
}

asio::awaitable<Result<JobPointer>> Jobs::copy(DetachRequest& request) {
    co_await forget_old();
    const RecordedExecution& original = *request.execution;
    const auto timeout = std::chrono::ceil<std::chrono::seconds>(original.info().request.timeout);
    CopyLabel label{"cellblock_job", new_short_id()};
    CB_CO_TRY_ASSIGN(moved, co_await sandboxes_.copy_cell(request.sandbox, original.id(), label,
                                                          timeout + job_sandbox_slack));
    if (!moved) co_return JobPointer();
    if (original.execution()->state() == ExecutionState::finished) {
        (void)co_await sandboxes_.remove(moved->sandbox->id());
        co_return JobPointer();
    }
    co_return co_await begin(request, label.value, std::move(*moved));
}

asio::awaitable<Result<JobPointer>> Jobs::begin(DetachRequest& request, std::string id,
                                                MovedCell moved) {
    const auto job = std::make_shared<Job>(executor_);
    const LoggedExecution& original = request.execution->info();
    JobRecord& record = job->record;
    record.id = std::move(id);
    record.execution_id = original.request.id;
    record.tenant = original.tenant;
    record.origin_sandbox_id = request.sandbox->id();
    record.origin_context_id = request.context->id();
    record.sandbox_id = moved.sandbox->id();
    record.context_id = moved.context->id();
    record.started_at = original.deadline - original.request.timeout;
    record.created_at = std::chrono::system_clock::now();
    record.notices = std::move(request.notices);
    if (record.notices.webhook) record.webhook.state = NoticeState::pending;
    if (!record.notices.email.empty()) record.email.state = NoticeState::pending;
    const auto begun = co_await begin_output(job, request.execution->lines());
    if (!begun) {
        (void)co_await sandboxes_.remove(moved.sandbox->id());
        co_await forget(job);
        co_return fail(begun.error());
    }
    const std::shared_ptr<Recorder> recorder = request.execution->recorder();
    CopiedExecution copied;
    copied.id = record.id;
    copied.cell = moved;
    copied.lines = request.execution->lines();
    copied.recorder = recorder;
    copied.tenant = record.tenant;
    recorder->move_to(moved.sandbox);
    auto execution = co_await executions_.go_on(std::move(copied));
    if (!execution) {
        recorder->move_to(request.sandbox);
        (void)co_await sandboxes_.remove(moved.sandbox->id());
        co_await forget(job);
        co_return fail(execution.error());
    }
    job->execution = std::move(*execution);
    jobs_[record.id] = job;
    ++following_;
    update_gauge();
    log::info("job_detached", {{"job_id", record.id},
                               {"sandbox_id", record.sandbox_id},
                               {"origin_sandbox_id", record.origin_sandbox_id}});
    spawn_logged(executor_, follow(job), "job", job);
    co_return job;
}

asio::awaitable<void> Jobs::follow(JobPointer job) {
    const RecordedExecutionPointer execution = job->execution;
    RecordedExecution::Reader reader(execution, job->lines_taken);
    while (!execution->ended() || reader.next() < execution->line_count()) {
        if (!co_await execution->wait_beyond(reader.next(), Deadline::max())) continue;
        std::vector<Json> lines;
        for (std::size_t bytes = 0;
             reader.next() < execution->line_count() && bytes < lines_at_once_max_bytes;
             reader.advance()) {
            const std::string& line = execution->line(reader.next());
            bytes += line.size();
            lines.push_back(Json::parse(line));
        }
        co_await append(job, std::move(lines));
    }
    co_await finish(job);
}

asio::awaitable<void> Jobs::append(JobPointer job, std::vector<Json> lines) {
    JobRecord& record = job->record;
    std::string text;
    std::uint64_t count = 0;
    for (Json& line : lines) {
        const std::string type = line.value("type", "");
        if (type == "error") {
            record.error = shortened(line);
        } else if (type == "artifact") {
            record.artifacts.push_back(artifact_summary(line));
        } else if (type == "end_of_execution" && record.lines_dropped > 0) {
            text += line_of(wire::dropped(std::to_string(record.lines_dropped) +
                                          " lines of the job's output were not kept"));
            ++count;
        }
        std::string dumped = line_of(line);
        if (job->output_end + text.size() + dumped.size() > job_output_max_bytes) {
            if (!is_vital(type)) {
                ++record.lines_dropped;
                continue;
            }
            if (type == "error") {
                line = record.error;
                line["type"] = "error";
                dumped = line_of(line);
            }
        }
        text += dumped;
        ++count;
    }
    if (count > 0) co_await write(job, std::move(text), count);
}

asio::awaitable<void> Jobs::write(JobPointer job, std::string text, std::uint64_t lines) {
    const std::size_t size = text.size();
    auto work = [output = job->output, text = std::move(text), at = job->output_end] {
        if (!output) return Result<void>(fail(ErrorCode::io, "the job's output is not open"));
        return output->append(text, at);
    };
    const auto written = co_await workers_.run(std::move(work));
    if (written) {
        job->output_end += size;
    } else {
        if (job->record.lines_dropped == 0) {
            log::warning("job_output_lost",
                         {{"job_id", job->record.id}, {"error", written.error().text()}});
        }
        job->record.lines_dropped += lines;
    }
    job->changed.notify_all();
}

asio::awaitable<void> Jobs::keep_or_end_sandbox(JobPointer job) {
    const auto sandbox = sandboxes_.find(job->record.sandbox_id);
    if (!sandbox) co_return;
    if (job->record.state == JobState::cancelled) {
        (void)co_await sandboxes_.remove(job->record.sandbox_id);
        co_return;
    }
    (*sandbox)->set_timeout(options_.keep_sandbox);
    job->record.sandbox_until = (*sandbox)->ends_at();
}

asio::awaitable<void> Jobs::finish(JobPointer job) {
    JobRecord& record = job->record;
    if (job->output) {
        auto sync = [output = job->output] { return output->sync(); };
        const auto synced = co_await workers_.run(std::move(sync));
        if (!synced) log::warning("job_output_lost", {{"error", synced.error().text()}});
    }
    record.state = record.error.is_null() ? JobState::succeeded : JobState::failed;
    if (job->cancelling && record.state == JobState::failed) record.state = JobState::cancelled;
    record.ended_at = std::chrono::system_clock::now();
    record.output_bytes = job->output_end;
    co_await keep_or_end_sandbox(job);
    co_await save_or_log(job);
    job->execution.reset();
    job->output.reset();
    job->changed.notify_all();
    --following_;
    changed_.notify_all();
    update_gauge();
    metrics_
        .counter("cellblock_jobs_ended_total", "Jobs that have ended",
                 {{"state", std::string(to_string(record.state))}})
        .Increment();
    const std::chrono::duration<double> took = *record.ended_at - record.started_at;
    log::info("job_ended", {{"job_id", record.id},
                            {"state", to_string(record.state)},
                            {"seconds", took.count()},
                            {"bytes", record.output_bytes}});
    tell(job);
}

// Webhook and mail go their ways side by side.
void Jobs::tell(const JobPointer& job) {
    const JobRecord& record = job->record;
    Notifier::Changed changed = [this, job] { return save_or_log(job); };
    if (record.notices.webhook && record.webhook.state == NoticeState::pending) {
        const Json body = {{"type", "job.ended"}, {"job", job_json(record)}};
        spawn_logged(executor_,
                     notifier_.post(*record.notices.webhook, "job_" + record.id, dump_ascii(body),
                                    job->record.webhook, changed),
                     "job_webhook", job);
    }
    if (!record.notices.email.empty() && record.email.state == NoticeState::pending) {
        Mail mail;
        mail.from = notifier_.mail_server().from;
        mail.to = record.notices.email;
        mail.subject = "Job " + record.id + " " + std::string(to_string(record.state));
        mail.text = mail_text(record);
        mail.id = "job." + record.id;
        mail.date = record.ended_at.value_or(record.created_at);
        spawn_logged(executor_, notifier_.send(std::move(mail), job->record.email, changed),
                     "job_mail", job);
    }
}

}  // namespace cellblock::gateway::jobs
