// GET /jobs/{id}/stream: a job's output as it comes, as Server-Sent Events or, to a client that
// asks for an upgrade, by WebSocket.
//
//   SSE        id: <position behind the line>    data: <the line>
//              at the end: event: job            data: <the job>
//   WebSocket  {"position": N, "line": {...}}, at the end {"position": N, "job": {...}}, close 1000
//
// A client goes on where it was with the header Last-Event-ID, or with ?from=N.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "gateway/http/request.h"
#include "gateway/http/response.h"
#include "gateway/jobs/jobs.h"

namespace cellblock::gateway::api {

boost::asio::awaitable<Result<void>> send_job_stream(jobs::Jobs& jobs, jobs::JobPointer job,
                                                     http::Request& request,
                                                     http::ResponseWriter& writer);

}  // namespace cellblock::gateway::api
