// Jupyter sessions: a document and the kernel that runs it. In memory, as jupyter_server has them
// by default; a session whose kernel has gone is gone too.
//
// Owner: Door. Loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/condition.h"
#include "base/error.h"
#include "base/json.h"

namespace cellblock::gateway::jupyter {

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

class SessionStore {
  public:
    explicit SessionStore(boost::asio::any_io_executor executor) : changed_(std::move(executor)) {}

    std::vector<DocumentSession>& all() { return sessions_; }
    DocumentSession* find(const std::string& id);
    DocumentSession* find_by_path(const std::string& path);
    void add(DocumentSession session) { sessions_.push_back(std::move(session)); }
    void remove(const std::string& id);
    // Sessions whose kernel `lives` does not know any more go.
    template <typename Lives>
    void drop_dead(Lives lives) {
        std::erase_if(sessions_, [&](const DocumentSession& s) { return !lives(s.kernel_id); });
    }

    // While one request starts the kernel of a document, others for the same document wait.
    class PathLock {
      public:
        PathLock(SessionStore& store, std::string path) : store_(&store), path_(std::move(path)) {}
        PathLock(PathLock&& other) noexcept
            : store_(std::exchange(other.store_, nullptr)), path_(std::move(other.path_)) {}
        PathLock& operator=(PathLock&&) = delete;
        ~PathLock() {
            if (store_ == nullptr) return;
            store_->locked_.erase(path_);
            store_->changed_.notify_all();
        }

      private:
        SessionStore* store_;
        std::string path_;
    };
    boost::asio::awaitable<PathLock> lock(std::string path);

  private:
    std::vector<DocumentSession> sessions_;
    std::set<std::string> locked_;
    Condition changed_;
};

Json session_model(const DocumentSession& session, Json kernel_model);

}  // namespace cellblock::gateway::jupyter
