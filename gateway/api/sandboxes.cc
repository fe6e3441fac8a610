// /sandboxes and /v2/sandboxes: create, list, get, delete, timeout, refreshes, connect.
//
// Paths, bodies and codes of E2B's control plane (sandboxes_json.h). A sandbox that has ended is
// 404 here, with its reason in the message; only the data plane says 502.
#include <algorithm>

#include "gateway/api/bind.h"
#include "gateway/api/sandbox_views.h"

namespace cellblock::gateway::api {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

// Ours: what holds this sandbox, for people who operate the gateway.
Json machine_json(const vm::MachineInfo& info) {
    return Json{{"driver", info.driver},
                {"accelerator", vm::to_string(info.accelerator)},
                {"isolation", vm::to_string(info.tier)},
                {"pid", info.pid},
                {"template", info.template_key}};
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
    spec.on_timeout = wanted.pause_on_timeout ? OnTimeout::pause : OnTimeout::kill;
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
    // Clients of the first version know of running ones only.
    if (query.states.empty() && request.path() == "/sandboxes") query.states = {"running"};
    std::vector<SandboxView> all;
    for (const SandboxPointer& sandbox : services.sandboxes.list()) {
        all.push_back(view_of(*sandbox, services));
    }
    const auto running = std::count_if(
        all.begin(), all.end(), [](const SandboxView& view) { return view.state == "running"; });
    writer.headers().set("X-Total-Running", std::to_string(running));
    const ListPage page = select_page(std::move(all), query);
    if (!page.next_token.empty()) writer.headers().set("X-Next-Token", page.next_token);
    Json answer = Json::array();
    for (const SandboxView& sandbox : page.items) answer.push_back(listed_sandbox_json(sandbox));
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> get(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(sandbox, named_sandbox(request, services));
    Json answer = sandbox_detail_json(view_of(*sandbox, services));
    answer["executions"] = sandbox->executions();
    if (const vm::Machine* machine = sandbox->machine()) {
        answer["machine"] = machine_json(machine->info());
    }
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
    CB_CO_TRY_ASSIGN(sandbox, named_sandbox(request, services));
    sandbox->set_timeout(*timeout);
    co_return co_await writer.send_empty(204);
}

awaitable<Result<void>> refresh(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(duration, refresh_from(body));
    CB_CO_TRY_ASSIGN(sandbox, named_sandbox(request, services));
    sandbox->extend_timeout(duration.value_or(services.sandbox_defaults.timeout));
    co_return co_await writer.send_empty(204);
}

awaitable<Result<void>> connect(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(timeout, timeout_from(body, TimeoutField::optional));
    CB_CO_TRY_ASSIGN(sandbox, named_sandbox(request, services));
    const auto lifetime = timeout.value_or(services.sandbox_defaults.timeout);
    CB_CO_TRY_ASSIGN(resumed, co_await services.sandboxes.resume(sandbox, lifetime));
    // Connecting never shortens a sandbox's life.
    sandbox->extend_timeout(lifetime);
    const Json answer = sandbox_json(view_of(*sandbox, services));
    co_return co_await writer.send_json(resumed == Resumed::yes ? 201 : 200, answer);
}

}  // namespace

void add_sandbox_routes(http::Router& router, Services& services) {
    const http::RouteOptions options;
    for (const std::string& version : {std::string(), std::string("/v2")}) {
        router.add("POST", version + "/sandboxes", options, bind(services, create));
        router.add("GET", version + "/sandboxes", options, bind(services, list));
        router.add("POST", version + "/sandboxes/{id}/connect", options, bind(services, connect));
    }
    router.add("GET", "/sandboxes/{id}", options, bind(services, get));
    router.add("DELETE", "/sandboxes/{id}", options, bind(services, remove));
    router.add("POST", "/sandboxes/{id}/timeout", options, bind(services, set_timeout));
    router.add("POST", "/sandboxes/{id}/refreshes", options, bind(services, refresh));
}

}  // namespace cellblock::gateway::api
