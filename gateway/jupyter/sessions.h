// Jupyter sessions: a document and the kernel that runs it. Values, as clients and the disk see
// them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"

namespace cellblock::gateway::jupyter {

// Of a path, a name, a type: Linux's own PATH_MAX.
inline constexpr std::size_t session_text_max_bytes = 4096;
// Of all sessions together, on disk.
inline constexpr std::size_t sessions_file_max_bytes = 64 * limits::MiB;

// (Its kernel's clients have sessions of another kind: kernel-proxy/attachment.h.)
struct DocumentSession {
    std::string id;
    std::string path;
    std::string name;
    std::string type;  // "notebook", "console", "file", ...
    std::string kernel_id;

    DocumentSession() = default;
};

// The body of POST and PATCH. What PATCH does not name stays.
struct SessionBody {
    std::optional<std::string> path;
    std::optional<std::string> name;
    std::optional<std::string> type;
    std::optional<std::string> kernel_name;
    std::optional<std::string> kernel_id;

    SessionBody() = default;
};
// {"path", "name"?, "type", "kernel": {"name" | "id"}?}, or the old {"notebook": {"path", "name"?},
// ...}, which implies the type.
Result<SessionBody> session_body_from(const Json& body);
// POST needs a path and a type.
Result<void> check_new_session(const SessionBody& body);

// As clients see it.
Json session_model(const DocumentSession& session, Json kernel_model);

// All of them as one text for the disk, and back.
std::string to_text(const std::vector<DocumentSession>& sessions);
Result<std::vector<DocumentSession>> sessions_from(std::string_view text);

}  // namespace cellblock::gateway::jupyter
