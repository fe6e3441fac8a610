// The executions of this gateway by id: those that run, those that an earlier gateway had under
// way, and for a while those that have ended.
//
//   open()      what an earlier gateway left unfinished is read
//   prepare()   ... and given to each kernel that is adopted, before it says anything
//   resume()    ... and goes on; queued cells are queued again; what has no kernel any more ends
//
// Owner: `serve`. Loop thread only; disk work goes to the workers, but for small records.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "artifacts/store.h"
#include "base/error.h"
#include "base/worker_pool.h"
#include "gateway/executions/recorded_execution.h"
#include "gateway/sandboxes/sandbox_manager.h"

namespace cellblock::gateway {

struct NewExecution {
    kernel_proxy::ExecuteRequest request;
    SandboxPointer sandbox;  // held until its end
    ContextPointer context;
    std::string tenant;

    NewExecution() = default;
};

// A cell that runs already, in a copy of the sandbox in which it was begun.
struct CopiedExecution {
    std::string id;
    MovedCell cell;
    std::vector<std::string> lines;      // of the original, so far
    std::shared_ptr<Recorder> recorder;  // the original's
    std::string tenant;

    CopiedExecution() = default;
};

class ExecutionTable {
  public:
    ExecutionTable(boost::asio::any_io_executor executor, artifacts::Store& store,
                   WorkerPool& workers, std::filesystem::path folder);

    boost::asio::awaitable<Result<void>> open();
    // Puts into `image` the cell that ran in the context `context_id`, if any.
    void prepare(const std::string& context_id, kernel_proxy::KernelImage& image);
    void resume(const SandboxManager& sandboxes);

    // Queues a cell. Errors are the kernel's (Kernel::execute); conflict when its id is in use.
    boost::asio::awaitable<Result<RecordedExecutionPointer>> start(NewExecution wanted);
    // Its lines go on here. An error when it cannot be recorded.
    boost::asio::awaitable<Result<RecordedExecutionPointer>> go_on(CopiedExecution copied);
    // Until what runs has ended and is on disk, or the deadline. After their sandboxes have ended.
    boost::asio::awaitable<void> wait_ended(Deadline deadline);
    // One that runs; null when none of that id does.
    RecordedExecutionPointer find(const std::string& id) const;
    // One that has ended. not_found when it is unknown or forgotten.
    boost::asio::awaitable<Result<LoggedExecution>> ended(std::string id) const;

  private:
    struct Left {
        RecordedExecutionPointer execution;
        std::shared_ptr<kernel_proxy::RunningCell> cell;  // of one that was sent
        bool adopted = false;                             // a kernel has it
    };

    Result<Left> take_left(LoggedExecution logged);
    void enter(const RecordedExecutionPointer& execution);
    boost::asio::awaitable<void> watch(RecordedExecutionPointer execution);
    boost::asio::awaitable<void> trim();

    boost::asio::any_io_executor executor_;
    artifacts::Store& store_;
    WorkerPool& workers_;
    const std::filesystem::path folder_;
    std::set<std::string> starting_;  // on their way into running_
    std::map<std::string, RecordedExecutionPointer> running_;
    std::vector<Left> left_;  // in the order in which they were made
    Deadline trim_at_ = Deadline::min();
    Condition changed_;
};

}  // namespace cellblock::gateway
