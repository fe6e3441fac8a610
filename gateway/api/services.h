// What the API's handlers stand on, built once by `serve` and handed to each family of routes.
// Everything outlives the server. Loop thread only.
#pragma once

#include <chrono>
#include <string>

#include "artifacts/store.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "gateway/auth/signed_link.h"
#include "gateway/executions/execution_table.h"
#include "gateway/sandboxes/sandbox_manager.h"

namespace cellblock::gateway::jobs {
class Jobs;
}
namespace cellblock::gateway::http {
class Request;
class Router;
}  // namespace cellblock::gateway::http

namespace cellblock::gateway::api {

struct Services {
    SandboxManager& sandboxes;
    ExecutionTable& executions;
    jobs::Jobs& jobs;
    artifacts::Store& store;
    WorkerPool& workers;
    metrics::Registry& metrics;
    // What a sandbox gets unless its creator asks for something else.
    SandboxSpec sandbox_defaults;
    // How long a cell may run whose request does not say.
    std::chrono::milliseconds execution_timeout;
    // Given to those who create a sandbox: E2B's clients send it back with data-plane calls.
    std::string access_token;
    auth::LinkSigner links;
    // What artifacts are kept for, and how much of them.
    artifacts::GcPolicy retention;
    std::size_t conversions_running = 0;  // tables that are being converted in sandboxes
};

// One function a family; each adds its routes.
void add_execute_routes(http::Router& router, Services& services);
void add_execution_routes(http::Router& router, Services& services);
void add_context_routes(http::Router& router, Services& services);
void add_sandbox_routes(http::Router& router, Services& services);
void add_sandbox_state_routes(http::Router& router, Services& services);
void add_job_routes(http::Router& router, Services& services);
void add_file_routes(http::Router& router, Services& services);
void add_artifact_routes(http::Router& router, Services& services);

// The sandbox that a request names by header E2b-Sandbox-Id or by the query's sandbox_id, else the
// caller's default one (made when it does not exist).
boost::asio::awaitable<Result<SandboxPointer>> sandbox_of(const http::Request& request,
                                                          Services& services);

}  // namespace cellblock::gateway::api
