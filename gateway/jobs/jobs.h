// Jobs: cells that go on after their caller was let go, each in a copy of its sandbox.
//
//   POST /execute --detach--> running --the cell's end--> succeeded | failed | cancelled
//
// A job's output is on disk (JobOutput), its record too (job.json), and its cell is a recorded
// execution under the job's id: all outlive the gateway, and the job goes on with the next one. Its
// sandbox is deleted some time after its end, by the sandbox's own deadline, unless it is adopted.
//
// Owner: `serve`. Loop thread only; disk work goes to the workers. Outlives the server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "gateway/executions/execution_table.h"
#include "gateway/jobs/job_output.h"
#include "gateway/jobs/job_record.h"
#include "gateway/jobs/notifier.h"
#include "gateway/sandboxes/sandbox_manager.h"

namespace cellblock::gateway::jobs {

struct Job {
    JobRecord record;
    std::uint64_t output_end = 0;        // position behind the last line
    std::size_t lines_taken = 0;         // of the execution, by the job's beginning
    std::shared_ptr<JobOutput> output;   // null once it has ended
    RecordedExecutionPointer execution;  // null once it has ended
    bool adopting = false;
    bool cancelling = false;
    Condition changed;

    explicit Job(boost::asio::any_io_executor executor) : changed(std::move(executor)) {}
    bool running() const { return record.state == JobState::running; }
};
using JobPointer = std::shared_ptr<Job>;

// What becomes a job.
struct DetachRequest {
    SandboxPointer sandbox;
    ContextPointer context;
    RecordedExecutionPointer execution;  // held
    Notices notices;

    DetachRequest() = default;
};

struct JobsOptions {
    std::filesystem::path folder;
    std::size_t running_max = 0;
    std::chrono::seconds keep_sandbox{0};
};

class Jobs {
  public:
    Jobs(boost::asio::any_io_executor executor, JobsOptions options, SandboxManager& sandboxes,
         ExecutionTable& executions, WorkerPool& workers, metrics::Registry& metrics,
         NotifierOptions notices);

    // Finds the jobs of an earlier gateway; those whose cells have been taken over go on. Once,
    // after these and before anything else.
    boost::asio::awaitable<Result<void>> open();

    const Notifier& notifier() const { return notifier_; }
    // too_many when no cell could be let go of now.
    Result<void> check_room() const;
    // Null: the cell has ended by itself, and is its caller's. After an error it goes on as it was.
    boost::asio::awaitable<Result<JobPointer>> detach(DetachRequest request);

    Result<JobPointer> find(const std::string& id, const std::string& tenant) const;
    // Newest first.
    std::vector<JobPointer> list(const std::string& tenant) const;
    // Whole lines from that position on; empty when there are none (yet).
    boost::asio::awaitable<Result<std::string>> read(JobPointer job, std::uint64_t from,
                                                     std::size_t max_bytes);
    // Asks a running one to end; forgets one that has ended, with its sandbox.
    boost::asio::awaitable<Result<void>> remove(JobPointer job);
    // Whom to tell, from now on. conflict once it has ended.
    boost::asio::awaitable<Result<void>> set_notices(JobPointer job, Notices notices);
    // The job's state becomes the sandbox's, in place.
    boost::asio::awaitable<Result<void>> adopt(SandboxPointer sandbox, JobPointer job);
    // At shutdown, when the sandboxes have ended: until what the jobs came to is on disk.
    boost::asio::awaitable<void> settle();

  private:
    std::filesystem::path folder_of(const JobRecord& record) const;
    // Null when the cell has ended meanwhile.
    boost::asio::awaitable<Result<JobPointer>> copy(DetachRequest& request);
    boost::asio::awaitable<Result<JobPointer>> begin(DetachRequest& request, std::string id,
                                                     MovedCell moved);
    boost::asio::awaitable<Result<void>> begin_output(JobPointer job,
                                                      std::vector<std::string> lines);
    boost::asio::awaitable<void> follow(JobPointer job);
    boost::asio::awaitable<void> append(JobPointer job, std::vector<Json> lines);
    boost::asio::awaitable<void> write(JobPointer job, std::string text, std::uint64_t lines);
    boost::asio::awaitable<void> finish(JobPointer job);
    boost::asio::awaitable<void> keep_or_end_sandbox(JobPointer job);
    boost::asio::awaitable<Result<void>> save(JobPointer job);
    boost::asio::awaitable<void> save_or_log(JobPointer job);
    boost::asio::awaitable<void> forget(JobPointer job);
    boost::asio::awaitable<void> forget_old();
    boost::asio::awaitable<void> take_in(JobRecord record);
    boost::asio::awaitable<void> go_on(JobPointer job);
    static void begin_anew(Job& job);
    void tell(const JobPointer& job);
    void update_gauge();

    boost::asio::any_io_executor executor_;
    const JobsOptions options_;
    SandboxManager& sandboxes_;
    ExecutionTable& executions_;
    WorkerPool& workers_;
    metrics::Registry& metrics_;
    metrics::Gauge& running_gauge_;
    metrics::Counter& failed_counter_;
    std::map<std::string, JobPointer> jobs_;
    std::size_t beginning_ = 0;  // detachments on their way
    std::size_t following_ = 0;
    Condition changed_;
    Notifier notifier_;
};

}  // namespace cellblock::gateway::jobs
