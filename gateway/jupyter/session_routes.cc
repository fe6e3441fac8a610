// GET|POST /api/sessions, GET|PATCH|DELETE /api/sessions/{id}.
//
// Shapes and codes are jupyter_server's.
#include "base/ids.h"
#include "gateway/jupyter/door.h"
#include "gateway/jupyter/kernels.h"
#include "gateway/jupyter/kernelspecs.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

Result<std::string> living_kernel(Door& door, const std::string& id) {
    if (find_kernel(door.services.sandboxes, id)) return id;
    return fail(ErrorCode::invalid_argument, "No such kernel: " + id);
}

// The kernel that a body names, or a new one.
awaitable<Result<std::string>> kernel_for(Door& door, const SessionBody& body,
                                          const std::string& path) {
    if (body.kernel_id) co_return living_kernel(door, *body.kernel_id);
    NewKernel wanted;
    wanted.name = body.kernel_name.value_or("");
    // jupyter_server answers 501 here, and 500 to POST /api/kernels.
    const bool forced = !door.settings.force_kernel.empty();
    if (!forced && !wanted.name.empty() && !door.kernelspecs.resolve(wanted.name)) {
        co_return fail(ErrorCode::not_supported,
                       "The '" + wanted.name + "' kernel is not available",
                       "GET /api/kernelspecs lists the kernels");
    }
    wanted.environment["JPY_SESSION_NAME"] = path;
    auto created = co_await door.start_kernel(std::move(wanted));
    if (!created) co_return fail(std::move(created).error());
    co_return created->context->id();
}

Json model_of(Door& door, const DocumentSession& session) {
    const auto kernel = find_kernel(door.services.sandboxes, session.kernel_id);
    return session_model(session, kernel ? kernel_model(kernel->kernel()) : Json());
}

Result<DocumentSession*> find(Door& door, const Request& request) {
    DocumentSession* session = door.sessions.find(request.param("id"));
    if (session != nullptr) return session;
    return fail(ErrorCode::not_found, "Session not found: session_id=" + request.param("id"));
}

awaitable<Result<void>> get_sessions(Door& door, Request&, ResponseWriter& writer) {
    CB_CO_TRY(door.check_listing());
    door.sessions.drop_dead([&door](const std::string& kernel_id) {
        return find_kernel(door.services.sandboxes, kernel_id).has_value();
    });
    Json all = Json::array();
    for (const DocumentSession& session : door.sessions.all()) {
        all.push_back(model_of(door, session));
    }
    co_return co_await writer.send_json(200, all);
}

awaitable<Result<void>> post_sessions(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(json, co_await request.read_json());
    CB_CO_TRY_ASSIGN(body, session_body_from(json));
    CB_CO_TRY(check_new_session(body));
    const auto lock = co_await door.sessions.lock(*body.path);
    DocumentSession* session = door.sessions.find_by_path(*body.path);
    if (session != nullptr && !find_kernel(door.services.sandboxes, session->kernel_id)) {
        door.sessions.remove(std::string(session->id));
        session = nullptr;
    }
    if (session == nullptr) {
        CB_CO_TRY(door.sessions.check_room());
        CB_CO_TRY_ASSIGN(kernel_id, co_await kernel_for(door, body, *body.path));
        DocumentSession made;
        made.id = new_uuid();
        made.path = *body.path;
        made.name = body.name.value_or("");
        made.type = *body.type;
        made.kernel_id = std::move(kernel_id);
        session = &door.sessions.add(std::move(made));
    }
    writer.headers().set("Location", "/api/sessions/" + session->id);
    const Json model = model_of(door, *session);
    co_await door.sessions.keep();
    co_return co_await writer.send_json(201, model);
}

awaitable<Result<void>> get_session(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(session, find(door, request));
    const Json model = model_of(door, *session);
    co_return co_await writer.send_json(200, model);
}

// Another kernel replaces the old one, which ends; a rename is known to the kernel only after its
// next start.
awaitable<Result<void>> patch_session(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(json, co_await request.read_json());
    CB_CO_TRY_ASSIGN(body, session_body_from(json));
    CB_CO_TRY_ASSIGN(before, find(door, request));
    std::string old_kernel_id = before->kernel_id;
    std::string kernel_id = old_kernel_id;
    if (body.kernel_id || body.kernel_name) {
        const std::string path = body.path.value_or(before->path);
        CB_CO_TRY_ASSIGN(chosen, co_await kernel_for(door, body, path));
        kernel_id = std::move(chosen);
    }
    CB_CO_TRY_ASSIGN(session, find(door, request));  // it may have gone meanwhile
    if (body.path) session->path = *body.path;
    if (body.name) session->name = *body.name;
    if (body.type) session->type = *body.type;
    session->kernel_id = kernel_id;
    const Json model = model_of(door, *session);
    co_await door.sessions.keep();
    auto old = find_kernel(door.services.sandboxes, old_kernel_id);
    if (old && kernel_id != old_kernel_id) {
        CB_CO_TRY(co_await remove_kernel(door.services.sandboxes, std::move(*old)));
    }
    co_return co_await writer.send_json(200, model);
}

awaitable<Result<void>> delete_session(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(session, find(door, request));
    const std::string kernel_id = session->kernel_id;
    door.sessions.remove(std::string(session->id));
    co_await door.sessions.keep();
    auto kernel = find_kernel(door.services.sandboxes, kernel_id);
    if (!kernel) {
        const Json gone = {{"message", "Kernel deleted before session"}, {"reason", "Gone"}};
        co_return co_await writer.send_json(410, gone);
    }
    CB_CO_TRY(co_await remove_kernel(door.services.sandboxes, std::move(*kernel)));
    co_return co_await writer.send_empty(204);
}

}  // namespace

void add_session_routes(http::Router& router, Door& door) {
    const http::RouteOptions options = door.route_options();
    router.add("GET", "/api/sessions", options, bind(door, get_sessions));
    router.add("POST", "/api/sessions", options, bind(door, post_sessions));
    router.add("GET", "/api/sessions/{id}", options, bind(door, get_session));
    router.add("PATCH", "/api/sessions/{id}", options, bind(door, patch_session));
    router.add("DELETE", "/api/sessions/{id}", options, bind(door, delete_session));
}

}  // namespace cellblock::gateway::jupyter
