// /jobs: cells that went on after their caller was let go (POST /execute with "detach_after").
//
// GET /jobs, newest first; GET /jobs/{id} with its output so far, up to a bound, and the position
// where its stream goes on; PATCH /jobs/{id} {"webhook"?, "email"?} while it runs; DELETE cancels a
// job that runs and forgets one that has ended; POST /sandboxes/{id}/adopt {"job"} makes its state
// the sandbox's. Errors in the control plane's shape.
#include "gateway/api/bind.h"
#include "gateway/api/job_stream.h"
#include "gateway/api/sandbox_views.h"
#include "gateway/jobs/job_limits.h"

namespace cellblock::gateway::api {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;
using jobs::JobPointer;

namespace {

Result<JobPointer> named_job(const Request& request, const Services& services) {
    return services.jobs.find(request.param("id"), request.tenant());
}

awaitable<Result<void>> list_jobs(Services& services, Request& request, ResponseWriter& writer) {
    const auto state = request.query().get("state");
    Json answer = Json::array();
    for (const JobPointer& job : services.jobs.list(request.tenant())) {
        if (state && *state != jobs::to_string(job->record.state)) continue;
        Json entry = jobs::job_json(job->record);
        entry.erase("artifacts");
        answer.push_back(std::move(entry));
    }
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> get_job(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(job, named_job(request, services));
    CB_CO_TRY_ASSIGN(text, co_await services.jobs.read(job, 0, jobs::job_view_max_bytes));
    Json answer = jobs::job_json(job->record);
    Json lines = Json::array();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
        if (!line.is_discarded()) lines.push_back(std::move(line));
        at = end + 1;
    }
    answer["outputs"] = std::move(lines);
    answer["outputs_end"] = text.size();
    answer["output_bytes"] = job->output_end;
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> change_job(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(job, named_job(request, services));
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    if (!body.is_object()) {
        co_return fail(ErrorCode::invalid_argument, "the body must be a JSON object");
    }
    CB_CO_TRY_ASSIGN(wanted, services.jobs.notifier().notices_from(body));
    jobs::Notices notices = job->record.notices;
    if (body.contains("webhook")) notices.webhook = std::move(wanted.webhook);
    if (body.contains("email")) notices.email = std::move(wanted.email);
    CB_CO_TRY(co_await services.jobs.set_notices(job, std::move(notices)));
    co_return co_await writer.send_json(200, jobs::job_json(job->record));
}

awaitable<Result<void>> delete_job(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(job, named_job(request, services));
    CB_CO_TRY(co_await services.jobs.remove(job));
    co_return co_await writer.send_empty(204);
}

awaitable<Result<void>> adopt(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    if (!body.is_object()) {
        co_return fail(ErrorCode::invalid_argument, "the body must be a JSON object");
    }
    CB_CO_TRY_ASSIGN(id, required_string(body, "job"));
    CB_CO_TRY_ASSIGN(sandbox, named_sandbox(request, services));
    CB_CO_TRY_ASSIGN(job, services.jobs.find(id, request.tenant()));
    CB_CO_TRY(co_await services.jobs.adopt(sandbox, job));
    const Json answer = sandbox_json(view_of(*sandbox, services));
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> stream_job(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(job, named_job(request, services));
    co_return co_await send_job_stream(services.jobs, job, request, writer);
}

}  // namespace

void add_job_routes(http::Router& router, Services& services) {
    const http::RouteOptions options;
    router.add("GET", "/jobs", options, bind(services, list_jobs));
    router.add("GET", "/jobs/{id}", options, bind(services, get_job));
    router.add("PATCH", "/jobs/{id}", options, bind(services, change_job));
    router.add("DELETE", "/jobs/{id}", options, bind(services, delete_job));
    router.add("POST", "/sandboxes/{id}/adopt", options, bind(services, adopt));
    http::RouteOptions streamed;
    streamed.on_disconnect = http::OnDisconnect::cancel;
    router.add("GET", "/jobs/{id}/stream", streamed, bind(services, stream_job));
}

}  // namespace cellblock::gateway::api
