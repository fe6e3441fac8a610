// POST /execute with "detach_after": a cell that its caller follows to its end, or until it goes on
// as a job. Such a cell is not recorded (recorded_execution.h): it is the job that outlives its
// caller.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "gateway/api/context_json.h"
#include "gateway/api/services.h"
#include "gateway/executions/execution_table.h"
#include "gateway/http/response.h"
#include "gateway/jobs/job_record.h"

namespace cellblock::gateway::api {

boost::asio::awaitable<Result<void>> run_detachable(Services& services, NewExecution wanted,
                                                    const ExecuteBody& body, jobs::Notices notices,
                                                    http::ResponseWriter& writer);

}  // namespace cellblock::gateway::api
