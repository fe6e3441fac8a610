// What Jupyter clients ask of the server itself: GET /api, /api/status, /api/me, /api/spec.yaml;
// and what there is not, said plainly: terminals.
#include <algorithm>

#include "gateway/jupyter/door.h"
#include "gateway/jupyter/kernels.h"
#include "gateway/jupyter/openapi.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

// The jupyter_server whose REST API this is: clients tell by it what they may call.
constexpr std::string_view jupyter_server_version = "2.17.0";
constexpr std::size_t permissions_max_bytes = 8 * limits::KiB;

awaitable<Result<void>> version(Door& door, Request&, ResponseWriter& writer) {
    const Json answer = {{"version", jupyter_server_version}, {"cellblock", door.settings.version}};
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> status(Door& door, Request&, ResponseWriter& writer) {
    WallTime last = door.started_at;
    std::size_t connections = 0;
    std::size_t kernels = 0;
    for (const PlacedKernel& kernel : list_kernels(door.services.sandboxes)) {
        const kernel_proxy::Channels& channels = kernel.kernel().channels();
        last = std::max(last, channels.last_activity());
        connections += channels.connections();
        ++kernels;
    }
    const Json answer = {{"started", iso8601(door.started_at)},
                         {"last_activity", iso8601(last)},
                         {"kernels", kernels},
                         {"connections", connections}};
    co_return co_await writer.send_json(200, answer);
}

// Who holds the token may do everything, so whatever is asked about is granted.
awaitable<Result<void>> me(Door&, Request& request, ResponseWriter& writer) {
    Json permissions = Json::object();
    if (const auto asked = request.query().get("permissions"); asked && !asked->empty()) {
        CB_CO_TRY_ASSIGN(parsed, parse_json(*asked, JsonLimits{permissions_max_bytes, 8},
                                            "the query's permissions"));
        if (!parsed.is_object()) {
            co_return fail(ErrorCode::invalid_argument,
                           "permissions should be a JSON dict of {\"resource\": [\"action\"]}");
        }
        permissions = std::move(parsed);
    }
    const std::string& name = request.tenant();
    const std::string initial = name.substr(0, 1);
    const Json identity = {{"username", name},    {"name", name},          {"display_name", name},
                           {"initials", initial}, {"avatar_url", nullptr}, {"color", nullptr}};
    const Json answer = {{"identity", identity}, {"permissions", permissions}};
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> openapi(Door&, Request&, ResponseWriter& writer) {
    co_return co_await writer.send(200, "text/x-yaml", openapi_yaml());
}

// JupyterLab takes a 404 for "no terminals here" and hides them.
awaitable<Result<void>> no_terminals(Door&, Request&, ResponseWriter&) {
    co_return fail(ErrorCode::not_found, "there are no terminals",
                   "run commands in a cell: !ls, or subprocess.run");
}

}  // namespace

void add_service_routes(http::Router& router, Door& door) {
    const http::RouteOptions options = door.route_options();
    http::RouteOptions open_in_jupyter = options;
    if (door.settings.compat == Compat::jupyter_server) {
        open_in_jupyter.access = http::Access::open;
    }
    router.add("GET", "/api", open_in_jupyter, bind(door, version));
    router.add("GET", "/api/spec.yaml", options, bind(door, openapi));
    router.add("GET", "/api/status", options, bind(door, status));
    router.add("GET", "/api/me", options, bind(door, me));
    router.add("GET", "/api/terminals", options, bind(door, no_terminals));
    router.add("POST", "/api/terminals", options, bind(door, no_terminals));
}

}  // namespace cellblock::gateway::jupyter
