// What copies and pauses a sandbox: fork, snapshots, restore, pause, resume; and GET /snapshots.
//
// Paths, bodies and codes of E2B's control plane (sandboxes_json.h). Ours: POST .../restore, and
// GET and DELETE /snapshots/{id}.
#include "gateway/api/bind.h"
#include "gateway/api/sandbox_views.h"
#include "gateway/http/status.h"

namespace cellblock::gateway::api {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

SnapshotView snapshot_view(const SavedSandbox& snapshot) {
    SnapshotView view;
    view.id = snapshot.id();
    view.name = snapshot.name;
    view.sandbox_id = snapshot.sandbox_id;
    view.parent_id = snapshot.parent_id;
    view.created_at = snapshot.created_at();
    view.memory_bytes = snapshot.saved.memory_bytes;
    view.disk_bytes = snapshot.saved.file.bytes;
    return view;
}

awaitable<Result<void>> fork(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(wanted, fork_request_from(body));
    CB_CO_TRY_ASSIGN(parent, named_sandbox(request, services));
    const auto timeout = wanted.timeout.value_or(parent->spec().timeout);
    CB_CO_TRY_ASSIGN(children, co_await services.sandboxes.fork(parent, wanted.count, timeout));
    Json answer = Json::array();
    std::optional<Error> failure;
    std::size_t made = 0;
    for (const Result<SandboxPointer>& child : children) {
        if (child) {
            ++made;
            answer.push_back({{"sandbox", sandbox_json(view_of(**child, services))}});
        } else {
            failure = child.error();
            const int status = http::status_of(http::ErrorStyle::control_plane, failure->code);
            answer.push_back({{"error", {{"code", status}, {"message", failure->text()}}}});
        }
    }
    if (made == 0 && failure) co_return fail(*failure);
    co_return co_await writer.send_json(201, answer);
}

awaitable<Result<void>> pause(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY(check_keeps_memory(body));
    CB_CO_TRY_ASSIGN(sandbox, named_sandbox(request, services));
    CB_CO_TRY(co_await services.sandboxes.pause(sandbox));
    co_return co_await writer.send_empty(204);
}

awaitable<Result<void>> resume(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(timeout, timeout_from(body, TimeoutField::optional));
    CB_CO_TRY_ASSIGN(sandbox, named_sandbox(request, services));
    const auto lifetime = timeout.value_or(sandbox->spec().timeout);
    CB_CO_TRY_ASSIGN(resumed, co_await services.sandboxes.resume(sandbox, lifetime));
    if (resumed == Resumed::no) {
        co_return fail(ErrorCode::conflict, "the sandbox is running already");
    }
    const Json answer = sandbox_json(view_of(*sandbox, services));
    co_return co_await writer.send_json(201, answer);
}

awaitable<Result<void>> make_snapshot(Services& services, Request& request,
                                      ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY(check_keeps_memory(body));
    CB_CO_TRY_ASSIGN(name, snapshot_name_from(body));
    CB_CO_TRY_ASSIGN(sandbox, named_sandbox(request, services));
    CB_CO_TRY_ASSIGN(made, co_await services.sandboxes.snapshot(sandbox, std::move(name)));
    const Json answer = new_snapshot_json(snapshot_view(*made));
    co_return co_await writer.send_json(201, answer);
}

awaitable<Result<void>> restore(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(target, restore_target_from(body));
    CB_CO_TRY_ASSIGN(sandbox, named_sandbox(request, services));
    CB_CO_TRY_ASSIGN(snapshot, services.sandboxes.find_snapshot(target));
    CB_CO_TRY(co_await services.sandboxes.restore(sandbox, snapshot));
    const Json answer = sandbox_json(view_of(*sandbox, services));
    co_return co_await writer.send_json(200, answer);
}

// Newest first; `nextToken` is the id of the last one on the page before.
awaitable<Result<void>> list_snapshots(Services& services, Request& request,
                                       ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(query, snapshot_query_from(request.query()));
    std::vector<SnapshotView> all;
    for (const SavedSandboxPointer& snapshot : services.sandboxes.snapshots().list()) {
        all.push_back(snapshot_view(*snapshot));
    }
    const SnapshotPage page = select_page(std::move(all), query);
    if (!page.next_token.empty()) writer.headers().set("X-Next-Token", page.next_token);
    Json answer = Json::array();
    for (const SnapshotView& snapshot : page.items) answer.push_back(snapshot_json(snapshot));
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> get_snapshot(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(snapshot, services.sandboxes.find_snapshot(request.param("id")));
    const Json answer = snapshot_json(snapshot_view(*snapshot));
    co_return co_await writer.send_json(200, answer);
}

awaitable<Result<void>> delete_snapshot(Services& services, Request& request,
                                        ResponseWriter& writer) {
    CB_CO_TRY(co_await services.sandboxes.remove_snapshot(request.param("id")));
    co_return co_await writer.send_empty(204);
}

}  // namespace

void add_sandbox_state_routes(http::Router& router, Services& services) {
    const http::RouteOptions options;
    router.add("POST", "/sandboxes/{id}/fork", options, bind(services, fork));
    router.add("POST", "/sandboxes/{id}/pause", options, bind(services, pause));
    router.add("POST", "/sandboxes/{id}/resume", options, bind(services, resume));
    router.add("POST", "/sandboxes/{id}/snapshots", options, bind(services, make_snapshot));
    router.add("POST", "/sandboxes/{id}/restore", options, bind(services, restore));
    router.add("GET", "/snapshots", options, bind(services, list_snapshots));
    router.add("GET", "/snapshots/{id}", options, bind(services, get_snapshot));
    router.add("DELETE", "/snapshots/{id}", options, bind(services, delete_snapshot));
    router.add("DELETE", "/templates/{id}", options, bind(services, delete_snapshot));  // E2B's way
}

}  // namespace cellblock::gateway::api
