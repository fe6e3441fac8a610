// What all connections of a server share: options, routes, the guard, the observer.
//
// Owner: Server, with every connection (a shared_ptr: a connection's coroutine may end after the
// server object). Loop thread only.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "gateway/http/readiness.h"
#include "gateway/http/router.h"
#include "gateway/http/tls.h"

namespace cellblock::gateway::http {

class Connection;

struct ServerOptions {
    std::chrono::milliseconds head_timeout = limits::http_head_timeout;
    std::chrono::milliseconds idle_timeout = limits::http_idle_timeout;
    std::chrono::milliseconds body_timeout = limits::http_body_timeout;
    std::chrono::milliseconds write_timeout = limits::http_write_timeout;
    std::chrono::milliseconds linger_timeout = limits::http_linger_timeout;
    std::chrono::milliseconds sweep_interval = limits::http_sweep_interval;
    std::size_t connections_max = limits::http_connections_max;
    std::shared_ptr<TlsContext> tls;                            // null: plain TCP
    Readiness* readiness = nullptr;                             // null: ready from the start
    ErrorStyle unknown_path_style = ErrorStyle::control_plane;  // for what no route serves

    ServerOptions() = default;
};

// Who may ask what. Implemented by auth/.
class Guard {
  public:
    virtual ~Guard() = default;
    // Host and Origin, for every request (a web page must not reach us by DNS rebinding).
    virtual Result<void> check_site(const Request& request) const = 0;
    // The tenant's name, or unauthorized. For routes that are not open.
    virtual Result<std::string> authenticate(const Request& request) const = 0;
};

// What is told of a request once it is over.
struct Outcome {
    const Request* request;
    const Route* route;  // null: none matched
    int status;
    bool client_gone;
    bool broken_off;
    std::chrono::steady_clock::duration duration;
    std::uint64_t bytes_sent;
};

// One access log line and the metrics of each request.
class Observer {
  public:
    explicit Observer(metrics::Registry& registry);
    void request_done(const Outcome& outcome);
    // A head that was refused before there was a request.
    void bad_head(const std::string& peer, int status, const std::string& reason);
    metrics::Gauge& connections;
    metrics::Counter& connections_refused;

  private:
    metrics::Registry& registry_;
    std::map<std::pair<std::string, int>, metrics::Counter*> counters_;
    std::map<std::string, metrics::Histogram*> latencies_;
};

struct ServerCore {
    ServerOptions options;
    Router router;
    std::shared_ptr<const Guard> guard;  // null: everybody may do everything (tests)
    Observer observer;
    WorkerPool& workers;
    std::set<Connection*> connections;
    bool stopping = false;

    ServerCore(ServerOptions options_, Router router_, std::shared_ptr<const Guard> guard_,
               metrics::Registry& registry, WorkerPool& workers_)
        : options(std::move(options_)),
          router(std::move(router_)),
          guard(std::move(guard_)),
          observer(registry),
          workers(workers_) {}
};

}  // namespace cellblock::gateway::http
