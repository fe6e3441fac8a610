#include "gateway/api/detaching.h"

#include <utility>

#include "base/spawn.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;

struct Detaching::Attempt {
    jobs::DetachRequest request;
    std::optional<Result<jobs::JobPointer>> result;
    Condition ended;

    Attempt(asio::any_io_executor executor, jobs::DetachRequest request_)
        : request(std::move(request_)), ended(std::move(executor)) {}
};

Detaching::Detaching(asio::any_io_executor executor, jobs::Jobs& jobs,
                     std::optional<std::chrono::milliseconds> after, jobs::DetachRequest request)
    : executor_(std::move(executor)), jobs_(jobs), after_(after), request_(std::move(request)) {}

void Detaching::note(const std::vector<Json>& lines) {
    if (!after_ || attempt_) return;
    for (const Json& line : lines) {
        const std::string type = line.value("type", "");
        if (type == "keepalive") continue;
        if (type == "number_of_executions") {
            request_.started_at = std::chrono::system_clock::now();
            due_ = std::chrono::steady_clock::now() + *after_;
        }
        if (type == "artifact") request_.artifacts.push_back(jobs::artifact_summary(line));
        const std::string text = dump_ascii(line) + "\n";
        if (request_.transcript.size() + text.size() > jobs::job_output_max_bytes) {
            ++request_.lines_dropped;
        } else {
            request_.transcript += text;
        }
    }
}

void Detaching::begin() {
    due_ = Deadline::max();
    attempt_ = std::make_shared<Attempt>(executor_, std::move(request_));
    spawn_logged(executor_, run(attempt_, jobs_), "detach", attempt_);
}

asio::awaitable<void> Detaching::run(std::shared_ptr<Attempt> attempt, jobs::Jobs& jobs) {
    auto result = co_await jobs.detach(std::move(attempt->request));
    attempt->result = std::move(result);
    attempt->ended.notify_all();
}

asio::awaitable<bool> Detaching::wait_until(Deadline deadline) {
    if (!attempt_->result) co_await attempt_->ended.wait_until(deadline);
    co_return attempt_->result.has_value();
}

Result<jobs::JobPointer> Detaching::take() {
    return std::move(*attempt_->result);
}

}  // namespace cellblock::gateway::api
