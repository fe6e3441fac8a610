// Which handler answers which method and path, and the properties of a family of routes.
//
// Filled at start-up, then constant. Literals beat parameters: "/sandboxes/metrics" is found before
// "/sandboxes/{id}" whatever their order.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/limits.h"
#include "gateway/http/request.h"
#include "gateway/http/response.h"
#include "gateway/http/status.h"

namespace cellblock::gateway::http {

// An error before the answer began becomes the route family's error body; afterwards it breaks the
// stream off. Handlers live as long as the router, so lambdas with captures are safe here.
using Handler =
    std::function<boost::asio::awaitable<Result<void>>(Request& request, ResponseWriter& writer)>;

enum class Access { token, open };

// What becomes of the handler when its client vanishes. See Connection.
enum class OnDisconnect {
    finish,  // short work that should not stop in the middle
    cancel,  // long work that nobody waits for any more
};

// What must be there before the handler runs (readiness.h).
enum class Needs { everything, nothing };

struct RouteOptions {
    ErrorStyle style = ErrorStyle::control_plane;
    Access access = Access::token;
    OnDisconnect on_disconnect = OnDisconnect::finish;
    Needs needs = Needs::everything;
    std::uint64_t body_max_bytes = limits::http_json_body_max_bytes;

    RouteOptions() = default;
};

struct Route {
    std::string method;
    std::string pattern;  // also the label in logs and metrics
    std::vector<std::string> segments;
    RouteOptions options;
    Handler handler;

    Route() = default;
};

enum class MatchKind { found, wrong_method, unknown_path };

struct Match {
    MatchKind kind = MatchKind::unknown_path;
    const Route* route = nullptr;  // wrong_method: one of that path's routes, for its options
    std::vector<std::pair<std::string, std::string>> params;
    std::string allow;  // methods of that path, for wrong_method and OPTIONS

    Match() = default;
};

class Router {
  public:
    // Pattern segments: literal, {name}, or {name*} at the end for the whole rest (at least one
    // segment, joined by "/").
    void add(std::string_view method, std::string_view pattern, const RouteOptions& options,
             Handler handler);
    // HEAD is answered by GET's handler.
    Match match(std::string_view method, const std::vector<std::string>& segments) const;
    const std::deque<Route>& routes() const { return routes_; }

  private:
    std::deque<Route> routes_;  // addresses stay valid
};

}  // namespace cellblock::gateway::http
