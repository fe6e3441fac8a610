#include "gateway/jupyter/sessions.h"

#include <algorithm>
#include <utility>

namespace cellblock::gateway::jupyter {
namespace {

Result<Json> object_member(const Json& body, const char* name) {
    const auto at = body.find(name);
    if (at == body.end() || at->is_null()) return Json::object();
    if (at->is_object()) return *at;
    return fail(ErrorCode::invalid_argument, "field '" + std::string(name) + "' must be an object");
}

}  // namespace

Result<SessionBody> session_body_from(const Json& body) {
    if (!body.is_object() || body.empty()) {
        return fail(ErrorCode::invalid_argument, "No JSON data provided");
    }
    SessionBody session;
    CB_TRY_ASSIGN(notebook, object_member(body, "notebook"));
    CB_TRY_ASSIGN(kernel, object_member(body, "kernel"));
    CB_TRY_ASSIGN(path, optional_string(body, "path"));
    CB_TRY_ASSIGN(name, optional_string(body, "name"));
    CB_TRY_ASSIGN(type, optional_string(body, "type"));
    CB_TRY_ASSIGN(notebook_path, optional_string(notebook, "path"));
    CB_TRY_ASSIGN(notebook_name, optional_string(notebook, "name"));
    CB_TRY_ASSIGN(kernel_name, optional_string(kernel, "name"));
    CB_TRY_ASSIGN(kernel_id, optional_string(kernel, "id"));
    session.path = notebook_path ? std::move(notebook_path) : std::move(path);
    session.name = notebook_name ? std::move(notebook_name) : std::move(name);
    session.type = std::move(type);
    if (!session.type && body.contains("notebook")) session.type = "notebook";
    session.kernel_name = std::move(kernel_name);
    session.kernel_id = std::move(kernel_id);
    return session;
}

Result<void> check_new_session(const SessionBody& body) {
    if (!body.path) {
        return fail(ErrorCode::invalid_argument, "Missing field in JSON data: path");
    }
    if (!body.type) {
        return fail(ErrorCode::invalid_argument, "Missing field in JSON data: type");
    }
    return {};
}

DocumentSession* SessionStore::find(const std::string& id) {
    const auto at = std::find_if(sessions_.begin(), sessions_.end(),
                                 [&id](const DocumentSession& s) { return s.id == id; });
    return at == sessions_.end() ? nullptr : &*at;
}

DocumentSession* SessionStore::find_by_path(const std::string& path) {
    const auto at = std::find_if(sessions_.begin(), sessions_.end(),
                                 [&path](const DocumentSession& s) { return s.path == path; });
    return at == sessions_.end() ? nullptr : &*at;
}

void SessionStore::remove(const std::string& id) {
    std::erase_if(sessions_, [&id](const DocumentSession& s) { return s.id == id; });
}

boost::asio::awaitable<SessionStore::PathLock> SessionStore::lock(std::string path) {
    while (locked_.contains(path)) co_await changed_.wait();
    locked_.insert(path);
    co_return PathLock(*this, std::move(path));
}

Json session_model(const DocumentSession& session, Json kernel_model) {
    Json model = {{"id", session.id},
                  {"path", session.path},
                  {"name", session.name},
                  {"type", session.type},
                  {"kernel", std::move(kernel_model)}};
    if (session.type == "notebook") {
        model["notebook"] = Json{{"path", session.path}, {"name", session.name}};
    }
    return model;
}

}  // namespace cellblock::gateway::jupyter
