// /sandboxes and /v2/sandboxes: create, list, get, delete, timeout, refreshes, connect.
//
// Paths, bodies and codes of E2B's control plane (sandboxes_json.h). A sandbox that has ended is
// 404 here, with its reason in the message; only the data plane says 502.
#include "gateway/api/sandboxes_json.h"
#include "gateway/api/services.h"
#include "gateway/http/router.h"

namespace cellblock::gateway::api {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

SandboxView view_of(const Sandbox& sandbox, const Services& services) {
    SandboxView view;
    view.id = sandbox.id();
    view.template_id = sandbox.spec().template_id;
    view.started_at = sandbox.started_at();
    view.ends_at = sandbox.ends_at();
    view.memory_mib = static_cast<std::int64_t>(sandbox.spec().memory_limit_bytes / limits::MiB);
    view.metadata = sandbox.spec().metadata;
    view.access_token = services.access_token;
    return view;
}

// Ours: what holds this sandbox, for people who operate the gateway.
Json machine_json(const vm::MachineInfo& info) {
    return Json{{"driver", info.driver},
                {"accelerator", vm::to_string(info.accelerator)},
                {"isolation", vm::to_string(info.tier)},
                {"pid", info.pid},
                {"template", info.template_key}};
}

Error as_not_found(Error error) {
    if (error.code == ErrorCode::sandbox_gone) error.code = ErrorCode::not_found;
    return error;
}

Result<SandboxPointer> find(const Request& request, const Services& services) {
    auto found = services.sandboxes.find(request.param("id"));
    if (!found) return fail(as_not_found(found.error()));
    return found;
}

awaitable<Result<void>> create(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(wanted, new_sandbox_from(body));
    SandboxSpec spec = services.sandbox_defaults;
    if (wanted.template_id) spec.template_id = *wanted.template_id;
    if (wanted.timeout) spec.timeout = *wanted.timeout;
    if (wanted.memory_limit_bytes) spec.memory_limit_bytes = *wanted.memory_limit_bytes;
    spec.environment = std::move(wanted.environment);
    spec.metadata = std::move(wanted.metadata);
    CB_CO_TRY_ASSIGN(sandbox, co_await services.sandboxes.create(std::move(spec)));
    if (writer.client_gone()) {
        // Nobody will ever learn its id.
        co_await services.sandboxes.remove(sandbox->id());
        co_return fail(ErrorCode::cancelled, "the client is gone");
    }
    const Json answer = sandbox_json(view_of(*sandbox, services));
    co_return co_await writer.send_json(201, answer);
}

awaitable<Result<void>> list(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(query, list_query_from(request.query()));
    std::vector<SandboxView> all;
    for (const SandboxPointer& sandbox : services.sandboxes.list()) {
        all.push_back(view_of(*sandbox, services));
    }
    writer.headers().set("X-Total-Running", std::to_string(all.size()));
    const ListPage page = select_page(std::move(all), query);
    if (!page.next_token.empty()) writer.headers().set("X-Next-Token", page.next_token);
    Json answer = Json::array();
    for (const SandboxView& sandbox : page.items) answer.push_back(listed_sandbox_json(sandbox));
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> get(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(sandbox, find(request, services));
    Json answer = sandbox_detail_json(view_of(*sandbox, services));
    answer["executions"] = sandbox->executions();
    answer["machine"] = machine_json(sandbox->machine().info());
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> remove(Services& services, Request& request, ResponseWriter& writer) {
    auto removed = co_await services.sandboxes.remove(request.param("id"));
    if (!removed) co_return fail(as_not_found(removed.error()));
    co_return co_await writer.send_empty(204);
}

awaitable<Result<void>> set_timeout(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(timeout, timeout_from(body, TimeoutField::required));
    CB_CO_TRY_ASSIGN(sandbox, find(request, services));
    sandbox->set_timeout(*timeout);
    co_return co_await writer.send_empty(204);
}

awaitable<Result<void>> refresh(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(duration, refresh_from(body));
    CB_CO_TRY_ASSIGN(sandbox, find(request, services));
    sandbox->extend_timeout(duration.value_or(services.sandbox_defaults.timeout));
    co_return co_await writer.send_empty(204);
}

awaitable<Result<void>> connect(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(timeout, timeout_from(body, TimeoutField::optional));
    CB_CO_TRY_ASSIGN(sandbox, find(request, services));
    // Connecting never shortens a sandbox's life.
    sandbox->extend_timeout(timeout.value_or(services.sandbox_defaults.timeout));
    const Json answer = sandbox_json(view_of(*sandbox, services));
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> not_yet(Services&, Request& request, ResponseWriter&) {
    co_return fail(ErrorCode::not_supported,
                   request.method() + " " + request.path() + " is not supported by this version",
                   "GET /version tells the version");
}

}  // namespace

void add_sandbox_routes(http::Router& router, Services& services) {
    const http::RouteOptions options;
    const auto add = [&](std::string_view method, const std::string& pattern, auto handler) {
        router.add(method, pattern, options,
                   [&services, handler](Request& request, ResponseWriter& writer) {
                       return handler(services, request, writer);
                   });
    };
    for (const std::string& version : {std::string(), std::string("/v2")}) {
        add("POST", version + "/sandboxes", create);
        add("GET", version + "/sandboxes", list);
        add("POST", version + "/sandboxes/{id}/connect", connect);
    }
    add("GET", "/sandboxes/{id}", get);
    add("DELETE", "/sandboxes/{id}", remove);
    add("POST", "/sandboxes/{id}/timeout", set_timeout);
    add("POST", "/sandboxes/{id}/refreshes", refresh);
    for (const char* action : {"pause", "resume", "fork", "snapshots"}) {
        add("POST", std::string("/sandboxes/{id}/") + action, not_yet);
    }
}

}  // namespace cellblock::gateway::api
