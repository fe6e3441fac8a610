// The routes that say how the gateway itself is: GET /health, /metrics, /version. They answer at
// once, while everything else waits for the template.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/metrics.h"
#include "gateway/http/router.h"

namespace cellblock::gateway::api {

struct ServiceInfo {
    std::string version;
    // An error while the gateway cannot serve yet: /health's answer. May be null.
    std::function<Result<void>()> ready;
    // What /version tells beyond the version: accelerator, isolation tier, image. May be null.
    std::function<Json()> details;
    // Called before /metrics is written, for values that are read and not counted. May be null.
    std::function<void()> refresh_metrics;

    ServiceInfo() = default;
};

// `registry` and the functions in `info` outlive the router.
void add_service_routes(http::Router& router, metrics::Registry& registry, ServiceInfo info);

}  // namespace cellblock::gateway::api
