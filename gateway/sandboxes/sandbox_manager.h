// All sandboxes of this gateway: made from the pool, found by id, listed, paused, copied, ended.
//
// Owner: `serve`. Loop thread only. A sandbox that goes by itself (timeout, VM death) leaves the
// table at once; its id is remembered as "gone" for a while, so that a late request is told why
// instead of 404.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "base/error.h"
#include "base/metrics.h"
#include "gateway/sandboxes/sandbox.h"
#include "gateway/sandboxes/saved_sandboxes.h"
#include "vm/pool/pool.h"

namespace cellblock::gateway {

using SandboxPointer = std::shared_ptr<Sandbox>;

struct SandboxManagerOptions {
    vm::Pool& pool;
    vm::MachineRestorer restore;  // starts machines from states of the pool's machines
    WorkerPool& workers;
    std::filesystem::path folder;  // of the gateway's state: snapshots/ and paused/ are in it
    std::chrono::seconds keep = limits::snapshot_retention_default;

    SandboxManagerOptions(vm::Pool& pool_, vm::MachineRestorer restore_, WorkerPool& workers_,
                          std::filesystem::path folder_)
        : pool(pool_),
          restore(std::move(restore_)),
          workers(workers_),
          folder(std::move(folder_)) {}
};

enum class Resumed { no, yes };

// A cell that goes on in a copy of its sandbox.
struct MovedCell {
    SandboxPointer sandbox;
    ContextPointer context;
    std::shared_ptr<kernel_proxy::Execution> execution;
};

// A label of a sandbox's metadata.
struct CopyLabel {
    std::string name;
    std::string value;
};

// What clients call the one template that there is: ours, and the defaults of E2B's SDKs.
bool names_the_template(std::string_view name);

class SandboxManager {
  public:
    SandboxManager(boost::asio::any_io_executor executor, SandboxManagerOptions options,
                   metrics::Registry& metrics);

    // Finds snapshots and paused sandboxes again, and goes on with those whose machines `found`
    // are. What cannot be gone on with is ended. Once, before anything else.
    // `prepare` puts into the image of each kernel what is known of the cell that runs in it.
    using PrepareKernel =
        std::function<void(const std::string& context_id, kernel_proxy::KernelImage& image)>;
    boost::asio::awaitable<Result<void>> open(std::vector<vm::FoundMachine> found,
                                              PrepareKernel prepare);

    // A running sandbox with a clean machine, or, where its template is a snapshot, with what the
    // snapshot holds. On failure nothing is left behind.
    boost::asio::awaitable<Result<SandboxPointer>> create(SandboxSpec spec);

    // `count` copies of a running sandbox, each with variables, files, kernels and running cells of
    // its own; the parent stands still only while it is copied. One result for each copy.
    boost::asio::awaitable<Result<std::vector<Result<SandboxPointer>>>> fork(
        SandboxPointer parent, std::size_t count, std::chrono::seconds timeout);

    // A copy of `parent` as fork() makes it, in which the cell of that execution goes on and is
    // heard; the parent's own goes on as well. std::nullopt: the cell ended before it was copied.
    // `label` is put into the copy's metadata.
    boost::asio::awaitable<Result<std::optional<MovedCell>>> copy_cell(
        SandboxPointer parent, std::string execution_id, CopyLabel label,
        std::chrono::seconds timeout);
    // In place: `sandbox` becomes what `source` is, which is deleted then. Running cells end in
    // both. Contexts that were copied from `sandbox` get its ids back.
    boost::asio::awaitable<Result<void>> adopt(SandboxPointer sandbox, SandboxPointer source);

    // not_found for an id that never was; sandbox_gone with the reason for one that has ended.
    Result<SandboxPointer> find(const std::string& id) const;
    // As find(), for work in it: resumed if it was paused, and not paused while the answer is held.
    boost::asio::awaitable<Result<SandboxPointer>> awake(std::string id);
    // The one named, or the caller's default one, made when it does not exist; awake().
    boost::asio::awaitable<Result<SandboxPointer>> resolve(std::optional<std::string> id);
    // Oldest first.
    std::vector<SandboxPointer> list() const;

    boost::asio::awaitable<Result<void>> remove(const std::string& id);
    // At shutdown of the gateway: every sandbox ends, or pauses, if that is what its timeout would
    // do.
    boost::asio::awaitable<void> remove_all();

    // `conflict` when it is paused already.
    boost::asio::awaitable<Result<void>> pause(SandboxPointer sandbox);
    // No effect when it runs. It then lives for at least `timeout` from now.
    boost::asio::awaitable<Result<Resumed>> resume(SandboxPointer sandbox,
                                                   std::chrono::seconds timeout);

    boost::asio::awaitable<Result<SavedSandboxPointer>> snapshot(SandboxPointer sandbox,
                                                                 std::string name);
    // By id, or the newest of that name.
    Result<SavedSandboxPointer> find_snapshot(const std::string& id_or_name) const;
    const SavedSandboxes& snapshots() const { return snapshots_; }
    boost::asio::awaitable<Result<void>> remove_snapshot(std::string id_or_name);
    // In place: the same sandbox becomes what the snapshot holds, running cells end.
    boost::asio::awaitable<Result<void>> restore(SandboxPointer sandbox,
                                                 SavedSandboxPointer snapshot);

  private:
    struct Gone {
        std::string id;
        Error reason;
    };

    boost::asio::awaitable<Result<SandboxPointer>> default_sandbox();
    struct Brood;
    struct Adoption;
    boost::asio::awaitable<void> adopt_found(std::vector<vm::FoundMachine> found,
                                             PrepareKernel prepare);
    boost::asio::awaitable<void> adopt_some(std::shared_ptr<Adoption> adoption);
    boost::asio::awaitable<Result<void>> adopt_one(vm::FoundMachine& machine, SandboxNote& note,
                                                   const PrepareKernel& prepare);
    boost::asio::awaitable<Result<SandboxPointer>> copy_of(const SandboxImage& image,
                                                           SandboxSpec spec, std::string heard);
    boost::asio::awaitable<void> raise(std::shared_ptr<Brood> brood);
    void enter(SandboxPointer sandbox);
    void update_gauges();
    boost::asio::awaitable<Result<SandboxPointer>> create_from(SavedSandboxPointer snapshot,
                                                               SandboxSpec spec);
    // `memory_limit_bytes`: of the sandbox that the machine is for.
    boost::asio::awaitable<Result<std::unique_ptr<vm::Machine>>> start_saved(
        SavedSandboxes& where, SavedSandboxPointer saved, std::shared_ptr<vm::link::Link> link,
        vm::RestoredAs restored_as, std::size_t memory_limit_bytes);
    boost::asio::awaitable<Result<std::unique_ptr<vm::Machine>>> start_state(
        vm::MachineStatePointer state, std::shared_ptr<vm::link::Link> link,
        vm::RestoredAs restored_as, std::size_t memory_limit_bytes);
    StartFromState starter_of(SavedSandboxes& where, SavedSandboxPointer saved,
                              std::size_t memory_limit_bytes);
    boost::asio::awaitable<Result<void>> save_paused(SandboxPointer sandbox,
                                                     const SandboxImage& image);
    void pause_soon(const std::string& id);
    boost::asio::awaitable<Result<void>> remove_old();
    boost::asio::awaitable<void> end(SandboxPointer sandbox, Error reason);
    void forget(const std::string& id, const Error& reason);

    boost::asio::any_io_executor executor_;
    const SandboxManagerOptions options_;
    vm::Pool& pool_;
    vm::MachineRestorer restore_;
    SavedSandboxes snapshots_;
    SavedSandboxes paused_;
    metrics::Gauge& running_gauge_;
    metrics::Gauge& paused_gauge_;
    metrics::Counter& created_counter_;
    metrics::Counter& forked_counter_;
    metrics::Counter& adopted_counter_;
    metrics::Counter& failed_counter_;
    metrics::Histogram& start_seconds_;
    std::map<std::string, SandboxPointer> sandboxes_;
    std::deque<Gone> gone_;
    std::string default_id_;
    bool creating_default_ = false;
    Condition changed_;
};

}  // namespace cellblock::gateway
