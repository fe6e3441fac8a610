#include "gateway/jobs/jobs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/executions/wire_lines.h"

namespace cellblock::gateway::jobs {

namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

constexpr const char* record_name = "job.json";
constexpr const char* output_name = "output.jsonl";

Result<JobRecord> read_record(const fs::path& folder) {
    CB_TRY_ASSIGN(text, read_file(folder / record_name, job_record_max_bytes));
    CB_TRY_ASSIGN(json, parse_json(text, JsonLimits{job_record_max_bytes}, "a job's record"));
    CB_TRY_ASSIGN(record, job_record_from(json));
    if (record.id != folder.filename()) return fail(ErrorCode::io, "it is another job's");
    return record;
}

// What has no record was never finished, or was being deleted.
Result<std::vector<JobRecord>> read_records(const fs::path& folder) {
    std::vector<JobRecord> records;
    CB_TRY(make_directories(folder, 0700));
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator(folder, ec)) {
        auto record = read_record(entry.path());
        if (record) {
            records.push_back(std::move(*record));
        } else if (record.error().code == ErrorCode::not_found) {
            fs::remove_all(entry.path(), ec);
        } else {
            log::warning("job_unreadable",
                         {{"folder", entry.path().string()}, {"error", record.error().text()}});
        }
    }
    if (ec) return fail(error_from_errno(ec.value(), "read " + folder.string()));
    return records;
}

Result<void> remove_folder(const fs::path& folder) {
    std::error_code ec;
    fs::remove(folder / record_name, ec);  // first: from here on it is no job
    fs::remove_all(folder, ec);
    if (ec) return fail(error_from_errno(ec.value(), "delete " + folder.string()));
    return {};
}

std::vector<Json> parsed(const std::vector<std::string>& lines) {
    std::vector<Json> all;
    for (const std::string& line : lines) all.push_back(Json::parse(line));
    return all;
}

}  // namespace

Jobs::Jobs(asio::any_io_executor executor, JobsOptions options, SandboxManager& sandboxes,
           ExecutionTable& executions, WorkerPool& workers, metrics::Registry& metrics,
           NotifierOptions notices)
    : executor_(executor),
      options_(std::move(options)),
      sandboxes_(sandboxes),
      executions_(executions),
      workers_(workers),
      metrics_(metrics),
      running_gauge_(metrics.gauge("cellblock_jobs_running", "Jobs that run now")),
      failed_counter_(metrics.counter("cellblock_detach_failures_total",
                                      "Cells that should have become jobs and could not")),
      changed_(executor),
      notifier_(std::move(notices), metrics) {}

fs::path Jobs::folder_of(const JobRecord& record) const {
    return options_.folder / record.id;
}

asio::awaitable<Result<void>> Jobs::open() {
    auto read = [folder = options_.folder] { return read_records(folder); };
    CB_CO_TRY_ASSIGN(records, co_await workers_.run(std::move(read)));
    for (JobRecord& record : records) co_await take_in(std::move(record));
    co_await forget_old();
    co_return Result<void>();
}

// Of an earlier gateway.
asio::awaitable<void> Jobs::take_in(JobRecord record) {
    const auto job = std::make_shared<Job>(executor_);
    job->record = std::move(record);
    jobs_[job->record.id] = job;
    auto open_output = [path = folder_of(job->record) / output_name] {
        return JobOutput::open(path);
    };
    auto output = co_await workers_.run(std::move(open_output));
    if (output) {
        job->output = std::move(*output);
        job->output_end = job->output->size_at_opening();
    }
    if (job->running()) {
        ++following_;
        co_await go_on(job);
    } else {
        job->output.reset();
        tell(job);
    }
}

// Its cell runs, or has ended before the job was told, or is lost. The lines are made anew from the
// first: they are the same under the same positions.
asio::awaitable<void> Jobs::go_on(JobPointer job) {
    job->execution = executions_.find(job->record.id);
    if (job->execution) {
        begin_anew(*job);
        job->lines_taken = job->execution->line_count();
        auto lines = parsed(job->execution->lines());
        co_await append(job, std::move(lines));
        spawn_logged(executor_, follow(job), "job", job);
        co_return;
    }
    std::vector<Json> lines;
    if (const auto ended = co_await executions_.ended(job->record.id)) {
        begin_anew(*job);
        lines = parsed(ended->lines);
    } else {
        const kernel_proxy::Finished lost(
            kernel_proxy::Outcome::sandbox_gone,
            Error(ErrorCode::sandbox_gone, "the gateway ended while the job ran",
                  "what it had shown by then is kept; run it again for the rest"));
        lines.push_back(wire::end_error(lost));
        lines.push_back(wire::end());
    }
    co_await append(job, std::move(lines));
    co_await finish(job);
}

void Jobs::begin_anew(Job& job) {
    job.output_end = 0;
    job.record.artifacts = Json::array();
    job.record.error = nullptr;
    job.record.lines_dropped = 0;
}

// The lines that the caller has got, and the record, without which it is no job.
asio::awaitable<Result<void>> Jobs::begin_output(JobPointer job, std::vector<std::string> lines) {
    auto open = [folder = folder_of(job->record)]() -> Result<std::shared_ptr<JobOutput>> {
        CB_TRY(make_directories(folder, 0700));
        return JobOutput::open(folder / output_name);
    };
    CB_CO_TRY_ASSIGN(output, co_await workers_.run(std::move(open)));
    job->output = std::move(output);
    job->lines_taken = lines.size();
    auto told = parsed(lines);
    co_await append(job, std::move(told));
    job->record.detached_from = job->output_end;
    co_return co_await save(job);
}

Result<void> Jobs::check_room() const {
    const auto running = static_cast<std::size_t>(std::count_if(
        jobs_.begin(), jobs_.end(), [](const auto& entry) { return entry.second->running(); }));
    if (running + beginning_ < options_.running_max) return {};
    return fail(ErrorCode::too_many,
                std::to_string(running) + " jobs run already, and jobs_max allows no more",
                "wait for one to end, or cancel one: DELETE /jobs/{id}");
}

Result<JobPointer> Jobs::find(const std::string& id, const std::string& tenant) const {
    const auto at = jobs_.find(id);
    if (at != jobs_.end() && at->second->record.tenant == tenant) return at->second;
    return fail(ErrorCode::not_found, "job \"" + id + "\" was not found", "GET /jobs lists them");
}

std::vector<JobPointer> Jobs::list(const std::string& tenant) const {
    std::vector<JobPointer> all;
    for (const auto& [id, job] : jobs_) {
        if (job->record.tenant == tenant) all.push_back(job);
    }
    std::sort(all.begin(), all.end(), [](const JobPointer& a, const JobPointer& b) {
        return a->record.created_at > b->record.created_at;
    });
    return all;
}

asio::awaitable<Result<std::string>> Jobs::read(JobPointer job, std::uint64_t from,
                                                std::size_t max_bytes) {
    auto work = [output = job->output, path = folder_of(job->record) / output_name, from,
                 end = job->output_end, max_bytes]() -> Result<std::string> {
        if (output) return output->read(from, end, max_bytes);
        CB_TRY_ASSIGN(opened, JobOutput::open(path));
        return opened->read(from, std::min(end, opened->size_at_opening()), max_bytes);
    };
    co_return co_await workers_.run(std::move(work));
}

asio::awaitable<Result<void>> Jobs::save(JobPointer job) {
    const std::string text = dump_ascii(to_json(job->record)) + "\n";
    auto work = [path = folder_of(job->record) / record_name, text]() -> Result<void> {
        if (text.size() > job_record_max_bytes) {
            return fail(ErrorCode::too_large, "a job's record is too large to be kept");
        }
        return write_file_atomically(path, text, 0600);
    };
    co_return co_await workers_.run(std::move(work));
}

asio::awaitable<void> Jobs::save_or_log(JobPointer job) {
    if (!jobs_.contains(job->record.id)) co_return;  // forgotten meanwhile
    const auto saved = co_await save(job);
    if (saved) co_return;
    log::warning("job_not_saved", {{"job_id", job->record.id}, {"error", saved.error().text()}});
}

asio::awaitable<Result<void>> Jobs::set_notices(JobPointer job, Notices notices) {
    if (!job->running()) co_return fail(ErrorCode::conflict, "the job has ended");
    job->record.notices = std::move(notices);
    const bool by_webhook = job->record.notices.webhook.has_value();
    const bool by_mail = !job->record.notices.email.empty();
    job->record.webhook.state = by_webhook ? NoticeState::pending : NoticeState::none;
    job->record.email.state = by_mail ? NoticeState::pending : NoticeState::none;
    co_return co_await save(job);
}

asio::awaitable<Result<void>> Jobs::remove(JobPointer job) {
    if (job->running()) {
        job->cancelling = true;
        if (job->execution) {
            job->execution->execution()->stop(kernel_proxy::StopReason::interrupted);
        }
        co_return Result<void>();
    }
    if (sandboxes_.find(job->record.sandbox_id)) {
        (void)co_await sandboxes_.remove(job->record.sandbox_id);
    }
    co_await forget(job);
    co_return Result<void>();
}

asio::awaitable<void> Jobs::forget(JobPointer job) {
    jobs_.erase(job->record.id);
    auto work = [folder = folder_of(job->record)] { return remove_folder(folder); };
    const auto removed = co_await workers_.run(std::move(work));
    if (!removed) log::warning("job_stays_on_disk", {{"error", removed.error().text()}});
}

// Those past their time, and the oldest of too many.
asio::awaitable<void> Jobs::forget_old() {
    std::vector<JobPointer> ended;
    for (const auto& [id, job] : jobs_) {
        if (job->record.ended_at) ended.push_back(job);
    }
    std::sort(ended.begin(), ended.end(), [](const JobPointer& a, const JobPointer& b) {
        return *a->record.ended_at > *b->record.ended_at;
    });
    const WallTime oldest = std::chrono::system_clock::now() - job_retention;
    for (std::size_t i = 0; i < ended.size(); ++i) {
        const bool past = *ended[i]->record.ended_at < oldest;
        if (i >= jobs_remembered_max || past) co_await forget(ended[i]);
    }
}

asio::awaitable<Result<void>> Jobs::adopt(SandboxPointer sandbox, JobPointer job) {
    const std::string id = job->record.id;
    if (job->running()) {
        co_return fail(ErrorCode::conflict, "job " + id + " is still running",
                       "wait for its end, or cancel it: DELETE /jobs/{id}");
    }
    if (job->adopting || !job->record.adopted_by.empty()) {
        co_return fail(ErrorCode::conflict, "the state of job " + id + " was adopted already");
    }
    job->adopting = true;
    auto source = co_await sandboxes_.awake(job->record.sandbox_id);
    Result<void> adopted;
    if (source) {
        adopted = co_await sandboxes_.adopt(sandbox, *source);
    } else {
        adopted = fail(ErrorCode::not_found, "the state of job " + id + " is not kept any more",
                       "a job's sandbox is deleted some time after its end (sandbox_until)");
    }
    job->adopting = false;
    if (!adopted) co_return adopted;
    job->record.adopted_by = sandbox->id();
    job->record.sandbox_until.reset();
    log::info("job_adopted", {{"job_id", id}, {"sandbox_id", sandbox->id()}});
    co_await save_or_log(job);
    co_return Result<void>();
}

asio::awaitable<void> Jobs::settle() {
    const Deadline patience = std::chrono::steady_clock::now() + limits::machine_kill_timeout;
    while (following_ + beginning_ > 0 && co_await changed_.wait_until(patience)) {
    }
}

void Jobs::update_gauge() {
    const auto running = std::count_if(jobs_.begin(), jobs_.end(),
                                       [](const auto& entry) { return entry.second->running(); });
    running_gauge_.Set(static_cast<double>(running));
}

}  // namespace cellblock::gateway::jobs
