#include "gateway/jupyter/sessions.h"

#include <utility>

namespace cellblock::gateway::jupyter {
namespace {

Result<Json> object_member(const Json& body, const char* name) {
    const auto at = body.find(name);
    if (at == body.end() || at->is_null()) return Json::object();
    if (at->is_object()) return *at;
    return fail(ErrorCode::invalid_argument, "field '" + std::string(name) + "' must be an object");
}

Result<std::optional<std::string>> short_string(const Json& body, const char* name) {
    CB_TRY_ASSIGN(text, optional_string(body, name));
    if (text && text->size() > session_text_max_bytes) {
        return fail(ErrorCode::invalid_argument,
                    "field '" + std::string(name) + "' has " + std::to_string(text->size()) +
                        " bytes, " + std::to_string(session_text_max_bytes) + " are allowed");
    }
    return text;
}

}  // namespace

Result<SessionBody> session_body_from(const Json& body) {
    if (!body.is_object() || body.empty()) {
        return fail(ErrorCode::invalid_argument, "No JSON data provided");
    }
    SessionBody session;
    CB_TRY_ASSIGN(notebook, object_member(body, "notebook"));
    CB_TRY_ASSIGN(kernel, object_member(body, "kernel"));
    CB_TRY_ASSIGN(path, short_string(body, "path"));
    CB_TRY_ASSIGN(name, short_string(body, "name"));
    CB_TRY_ASSIGN(type, short_string(body, "type"));
    CB_TRY_ASSIGN(notebook_path, short_string(notebook, "path"));
    CB_TRY_ASSIGN(notebook_name, short_string(notebook, "name"));
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

std::string to_text(const std::vector<DocumentSession>& sessions) {
    Json all = Json::array();
    for (const DocumentSession& session : sessions) {
        all.push_back({{"id", session.id},
                       {"path", session.path},
                       {"name", session.name},
                       {"type", session.type},
                       {"kernel_id", session.kernel_id}});
    }
    return dump_ascii(all) + "\n";
}

Result<std::vector<DocumentSession>> sessions_from(std::string_view text) {
    CB_TRY_ASSIGN(all, parse_json(text, JsonLimits{sessions_file_max_bytes}, "the sessions' file"));
    if (!all.is_array()) return fail(ErrorCode::io, "the sessions' file is not a JSON array");
    std::vector<DocumentSession> sessions;
    for (const Json& json : all) {
        if (!json.is_object()) return fail(ErrorCode::io, "a session on disk is not an object");
        DocumentSession session;
        CB_TRY_ASSIGN(id, required_string(json, "id"));
        CB_TRY_ASSIGN(path, required_string(json, "path"));
        CB_TRY_ASSIGN(name, required_string(json, "name"));
        CB_TRY_ASSIGN(type, required_string(json, "type"));
        CB_TRY_ASSIGN(kernel_id, required_string(json, "kernel_id"));
        session.id = std::move(id);
        session.path = std::move(path);
        session.name = std::move(name);
        session.type = std::move(type);
        session.kernel_id = std::move(kernel_id);
        sessions.push_back(std::move(session));
    }
    return sessions;
}

}  // namespace cellblock::gateway::jupyter
