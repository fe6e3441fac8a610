#include "gateway/api/service_routes.h"

namespace cellblock::gateway::api {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

// E2B's health answer is the JSON string "OK"; it needs no token. 503 with the reason while the
// gateway is not ready, so that a load balancer waits.
awaitable<Result<void>> health(const ServiceInfo& info, ResponseWriter& writer) {
    writer.headers().set("Cache-Control", "no-store");
    if (info.ready) {
        CB_CO_TRY(info.ready());
    }
    const Json ok = "OK";
    co_return co_await writer.send_json(200, ok);
}

awaitable<Result<void>> exposition(metrics::Registry& registry, ResponseWriter& writer) {
    const std::string text = registry.text();
    co_return co_await writer.send(200, "text/plain; version=0.0.4; charset=utf-8", text);
}

awaitable<Result<void>> version(const ServiceInfo& info, ResponseWriter& writer) {
    Json body = info.details ? info.details() : Json::object();
    body["name"] = "cellblock";
    body["version"] = info.version;
    co_return co_await writer.send_json(200, body);
}

}  // namespace

void add_service_routes(http::Router& router, metrics::Registry& registry, ServiceInfo info) {
    http::RouteOptions open;
    open.access = http::Access::open;
    open.style = http::ErrorStyle::code_interpreter;
    open.needs = http::Needs::nothing;
    // Each handler's own copy lives as long as the router.
    router.add("GET", "/health", open,
               [info](Request&, ResponseWriter& writer) { return health(info, writer); });

    http::RouteOptions closed;
    closed.needs = http::Needs::nothing;
    const std::function<void()> refresh = info.refresh_metrics;
    router.add("GET", "/metrics", closed, [&registry, refresh](Request&, ResponseWriter& writer) {
        if (refresh) refresh();
        return exposition(registry, writer);
    });
    router.add("GET", "/version", closed,
               [info = std::move(info)](Request&, ResponseWriter& writer) {
                   return version(info, writer);
               });
}

}  // namespace cellblock::gateway::api
