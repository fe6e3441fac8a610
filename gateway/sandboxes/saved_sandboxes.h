// Sandboxes on disk: snapshots (by their own ids) or paused sandboxes (by the sandbox's id).
//
// What a row says is in memory, so lists and lookups touch no disk; a machine's state is read when
// it is wanted, and verified then. Owner: the SandboxManager. Loop thread only; disk work goes to
// the workers.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/worker_pool.h"
#include "gateway/sandboxes/sandbox_image.h"
#include "vm/snapshot/state_store.h"

namespace cellblock::gateway {

struct SavedSandbox {
    vm::SavedState saved;    // with the id
    std::string sandbox_id;  // of which it was made
    std::string name;        // may be empty
    std::string parent_id;   // the snapshot before it in the tree; empty: a root
    WallTime started_at;     // of the sandbox
    SandboxImage image;      // without machine and link

    SavedSandbox() = default;
    const std::string& id() const { return saved.id; }
    WallTime created_at() const {
        return WallTime(std::chrono::duration_cast<WallTime::duration>(
            std::chrono::nanoseconds(saved.created_at_ns)));
    }
};
using SavedSandboxPointer = std::shared_ptr<const SavedSandbox>;

Json to_json(const SavedSandbox& sandbox);  // all but `saved`
Result<SavedSandbox> saved_sandbox_from(vm::SavedState saved);

class SavedSandboxes {
  public:
    SavedSandboxes(WorkerPool& workers, std::filesystem::path folder)
        : workers_(workers), store_(std::move(folder)) {}

    // Reads what is on disk. Once, before anything else.
    boost::asio::awaitable<Result<void>> open();
    // `sandbox.image` has the machine's state; `id` is not in use.
    boost::asio::awaitable<Result<SavedSandboxPointer>> save(std::string id, SavedSandbox sandbox);
    boost::asio::awaitable<Result<vm::MachineStatePointer>> load(SavedSandboxPointer sandbox);
    // No effect when there is none of that id.
    boost::asio::awaitable<Result<void>> remove(std::string id);
    // Removes what is older; how many.
    boost::asio::awaitable<Result<std::size_t>> remove_older(std::chrono::seconds age);

    // Null: none of that id.
    SavedSandboxPointer find(const std::string& id) const;
    // Oldest first.
    std::vector<SavedSandboxPointer> list() const;

  private:
    WorkerPool& workers_;
    vm::StateStore store_;
    std::map<std::string, SavedSandboxPointer> all_;
};

}  // namespace cellblock::gateway
