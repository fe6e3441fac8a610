#include "gateway/jupyter/session_store.h"

#include <algorithm>

#include "base/files.h"
#include "base/log.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;

awaitable<Result<void>> SessionStore::open() {
    if (file_.empty()) co_return Result<void>();
    auto read = [file = file_] { return read_file(file, sessions_file_max_bytes); };
    const auto text = co_await workers_.run(std::move(read));
    if (!text && text.error().code == ErrorCode::not_found) co_return Result<void>();
    if (!text) co_return fail(text.error());
    CB_CO_TRY_ASSIGN(sessions, sessions_from(*text));
    sessions_ = std::move(sessions);
    co_return Result<void>();
}

awaitable<void> SessionStore::keep() {
    const std::uint64_t mine = ++changes_;
    while (!file_.empty() && kept_ < mine) {
        if (writing_) {
            co_await changed_.wait();
            continue;
        }
        writing_ = true;
        const std::uint64_t through = changes_;
        auto write = [file = file_, text = to_text(sessions_)] {
            return write_file_atomically(file, text, 0600);
        };
        const auto written = co_await workers_.run(std::move(write));
        writing_ = false;
        kept_ = through;
        changed_.notify_all();
        if (!written) log::warning("sessions_not_kept", {{"error", written.error().text()}});
    }
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

Result<void> SessionStore::check_room() const {
    if (sessions_.size() < sessions_max) return {};
    return fail(ErrorCode::too_many,
                "there are " + std::to_string(sessions_.size()) +
                    " sessions already, and no more are allowed",
                "delete some: DELETE /api/sessions/{id}");
}

DocumentSession& SessionStore::add(DocumentSession session) {
    return sessions_.emplace_back(std::move(session));
}

void SessionStore::remove(const std::string& id) {
    std::erase_if(sessions_, [&id](const DocumentSession& s) { return s.id == id; });
}

awaitable<SessionStore::PathLock> SessionStore::lock(std::string path) {
    while (locked_.contains(path)) co_await changed_.wait();
    locked_.insert(path);
    co_return PathLock(*this, std::move(path));
}

}  // namespace cellblock::gateway::jupyter
