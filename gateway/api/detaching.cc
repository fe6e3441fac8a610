#include "gateway/api/detaching.h"

#include <utility>

#include "gateway/executions/wire_lines.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;

namespace {

// Whether it runs after that long, counted from its first line: that it has begun.
asio::awaitable<bool> still_runs(RecordedExecutionPointer execution,
                                 std::chrono::milliseconds after) {
    co_await execution->wait_beyond(0, Deadline::max());
    const Deadline due = std::chrono::steady_clock::now() + after;
    co_return !co_await execution->wait_ended(due);
}

}  // namespace

asio::awaitable<void> detach_when_due(jobs::Jobs& jobs, jobs::DetachRequest request,
                                      std::chrono::milliseconds after) {
    const RecordedExecutionPointer execution = request.execution;
    if (!co_await still_runs(execution, after)) co_return;
    if (!co_await execution->hold()) co_return;
    const auto job = co_await jobs.detach(std::move(request));
    std::vector<Json> lines;
    if (!job) {
        lines.push_back(wire::not_detached(job.error()));
        execution->release(lines);
    } else if (!*job) {
        execution->release(lines);  // it has ended meanwhile
    } else {
        const jobs::JobRecord& record = (*job)->record;
        execution->let_go(wire::detached_to(record.id, record.sandbox_id, record.detached_from));
    }
}

}  // namespace cellblock::gateway::api
