// The Jupyter sessions there are, in memory and in a file: kernels outlive the gateway, and so do
// the documents they belong to. A session whose kernel has gone is gone too.
//
// Owner: Door. Loop thread only; the file is written by the workers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "base/error.h"
#include "base/worker_pool.h"
#include "gateway/jupyter/sessions.h"

namespace cellblock::gateway::jupyter {

// Each needs a living kernel, but one kernel may have any number.
inline constexpr std::size_t sessions_max = 4096;

class SessionStore {
  public:
    // `file`: empty: in memory only.
    SessionStore(boost::asio::any_io_executor executor, WorkerPool& workers,
                 std::filesystem::path file)
        : workers_(workers), file_(std::move(file)), changed_(std::move(executor)) {}

    // Reads the file, if there is one. Once, before anything else.
    boost::asio::awaitable<Result<void>> open();
    // After a change: returns when it is on disk, or could not be written there, which is logged
    // (its kernel is there all the same; only the next gateway will not know the document).
    boost::asio::awaitable<void> keep();

    const std::vector<DocumentSession>& all() const { return sessions_; }
    DocumentSession* find(const std::string& id);
    DocumentSession* find_by_path(const std::string& path);
    // too_many when there are sessions_max.
    Result<void> check_room() const;
    DocumentSession& add(DocumentSession session);
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
    WorkerPool& workers_;
    const std::filesystem::path file_;
    std::vector<DocumentSession> sessions_;
    std::set<std::string> locked_;
    // Changes are counted; the file has those up to `kept_`. One writer at a time.
    std::uint64_t changes_ = 0;
    std::uint64_t kept_ = 0;
    bool writing_ = false;
    Condition changed_;
};

}  // namespace cellblock::gateway::jupyter
