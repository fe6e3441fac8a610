#include "base/log.h"
#include "gateway/http/server_core.h"

namespace cellblock::gateway::http {

Observer::Observer(metrics::Registry& registry)
    : connections(registry.gauge("cellblock_http_connections", "Open HTTP connections.")),
      connections_refused(registry.counter("cellblock_http_connections_refused_total",
                                           "Connections closed at accept: too many are open.")),
      registry_(registry) {}

void Observer::request_done(const Outcome& outcome) {
    const std::string route = outcome.route != nullptr ? outcome.route->pattern : "unmatched";
    const int status = outcome.client_gone ? 499 : outcome.status;
    metrics::Counter*& counter = counters_[{route, status}];
    if (counter == nullptr) {
        const metrics::Labels labels = {{"route", route}, {"status", std::to_string(status)}};
        counter = &registry_.counter("cellblock_http_requests_total",
                                     "HTTP requests by route and status.", labels);
    }
    counter->Increment();
    metrics::Histogram*& latency = latencies_[route];
    if (latency == nullptr) {
        latency = &registry_.histogram("cellblock_http_request_seconds",
                                       "Time from a request's head to the end of its answer.",
                                       metrics::latency_bounds_s(), {{"route", route}});
    }
    const double seconds = std::chrono::duration<double>(outcome.duration).count();
    latency->Observe(seconds);

    const bool routine = outcome.route != nullptr && outcome.status < 400 &&
                         outcome.route->options.access == Access::open;
    log::write(routine ? log::Level::debug : log::Level::info, "http_request",
               {{"method", outcome.request->method()},
                {"path", outcome.request->path()},  // never the query: it may hold the token
                {"route", route},
                {"status", status},
                {"duration_ms", seconds * 1000},
                {"bytes_sent", outcome.bytes_sent},
                {"bytes_received", outcome.request->head().content_length},
                {"broken_off", outcome.broken_off},
                {"peer", outcome.request->peer()}});
}

void Observer::bad_head(const std::string& peer, int status, const std::string& reason) {
    metrics::Counter*& counter = counters_[{"malformed", status}];
    if (counter == nullptr) {
        const metrics::Labels labels = {{"route", "malformed"}, {"status", std::to_string(status)}};
        counter = &registry_.counter("cellblock_http_requests_total",
                                     "HTTP requests by route and status.", labels);
    }
    counter->Increment();
    log::info("http_bad_request", {{"peer", peer}, {"status", status}, {"reason", reason}});
}

}  // namespace cellblock::gateway::http
