// An execution that is recorded while it runs: its lines are numbered, kept, and read by whoever
// wants them from any number on, at once or later.
//
// One coroutine takes what the kernel said, makes lines of it, tells the readers, writes the lines
// to the log, and only then lets the guest forget what they were made of. So a gateway that takes
// over finds each line in the log or hears again what makes it, and makes it under the same number.
//
// A cell may be let go of: it goes on in a copy of its sandbox, under another recorded execution
// that begins with the same lines and has the same Recorder from then on. For that it is held
// between two events, so that both have all that the kernel said, once.
//
// Owner: the ExecutionTable while it runs, and its readers. Loop thread only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "base/worker_pool.h"
#include "gateway/executions/execution_log.h"
#include "gateway/executions/recorder.h"
#include "kernel-proxy/execution.h"

namespace cellblock::gateway {

class RecordedExecution final : public kernel_proxy::ExecutionKeeper,
                                public std::enable_shared_from_this<RecordedExecution> {
  public:
    // Without a log it is as any execution that nobody can come back to.
    RecordedExecution(boost::asio::any_io_executor executor, WorkerPool& workers,
                      LoggedExecution logged, std::optional<ExecutionLog> log);
    // Of a cell that a kernel has already.
    RecordedExecution(boost::asio::any_io_executor executor, WorkerPool& workers,
                      LoggedExecution logged, std::optional<ExecutionLog> log,
                      std::shared_ptr<kernel_proxy::Execution> execution);

    const LoggedExecution& info() const { return info_; }
    const std::string& id() const { return info_.request.id; }
    const std::shared_ptr<kernel_proxy::Execution>& execution() const { return execution_; }
    // After begin().
    const std::shared_ptr<Recorder>& recorder() const { return recorder_; }

    // Starts to take what the kernel says. Once. `sandbox` is held until the end.
    void begin(artifacts::Store& store, std::shared_ptr<Sandbox> sandbox);
    // ... with the recorder that made the lines that are there.
    void begin(std::shared_ptr<Recorder> recorder, std::shared_ptr<Sandbox> sandbox);
    // Ends one that no kernel has any more.
    void end(const kernel_proxy::Finished& finished);

    std::size_t line_count() const { return lines_.size(); }
    const std::string& line(std::size_t number) const { return lines_[number]; }
    bool ended() const { return ended_; }
    // There are more than `count` lines, or it has ended; false: not by the deadline.
    boost::asio::awaitable<bool> wait_beyond(std::size_t count, Deadline deadline);
    // --- letting go of the cell ---
    // Takes nothing more of what the kernel says, until one of the other two. False: it has ended.
    boost::asio::awaitable<bool> hold();
    void release(const std::vector<Json>& lines);
    // It goes on elsewhere, with its recorder. This one ends with `line`; its own copy of the cell
    // is interrupted, and what that still says is dropped: the other says it too.
    void let_go(const Json& line);
    // All lines so far, as they stand in the log.
    const std::vector<std::string>& lines() const { return lines_; }

    // Whether its last line is there by the deadline.
    boost::asio::awaitable<bool> wait_ended(Deadline deadline);
    // Its end is on disk.
    boost::asio::awaitable<void> wait_finished();

    // One who reads while it runs. When all are far behind, the kernel is paced.
    class Reader {
      public:
        Reader(std::shared_ptr<RecordedExecution> execution, std::size_t from);
        Reader(const Reader&) = delete;
        Reader& operator=(const Reader&) = delete;
        ~Reader();
        std::size_t next() const { return next_; }
        void advance();

      private:
        friend class RecordedExecution;
        std::shared_ptr<RecordedExecution> execution_;
        std::size_t next_;
        std::size_t bytes_;  // of the lines before next_
    };

    // --- for the Kernel ---
    void sending(std::string_view header, std::uint64_t position) override;
    void answered(std::string_view status) override;
    void acknowledging(std::uint64_t position) override;

  private:
    boost::asio::awaitable<void> run();
    boost::asio::awaitable<void> restore_recorder();
    boost::asio::awaitable<void> take(kernel_proxy::OutputEvent event);
    boost::asio::awaitable<void> end_own_copy();
    RecorderState recorder_state() const;
    void add(const std::vector<Json>& lines, std::vector<std::string>& fresh);
    boost::asio::awaitable<void> write(const std::vector<std::string>& fresh);
    void write_now(const std::string& record);
    void give_up_log(const Error& error);
    boost::asio::awaitable<void> wait_for_readers();
    void finish();

    boost::asio::any_io_executor executor_;
    WorkerPool& workers_;
    LoggedExecution info_;  // its lines are moved to lines_
    std::optional<ExecutionLog> log_;
    std::shared_ptr<kernel_proxy::Execution> execution_;
    std::shared_ptr<Sandbox> sandbox_;
    std::shared_ptr<Recorder> recorder_;
    bool recorder_is_new_ = true;  // it did not make the lines that are there
    std::vector<std::string> lines_;
    std::size_t bytes_ = 0;  // of lines_
    std::list<Reader*> readers_;
    bool ended_ = false;
    bool finished_ = false;
    bool held_ = false;
    bool busy_ = true;  // not between two events
    bool let_go_ = false;
    bool log_broken_ = false;
    Condition changed_;
};
using RecordedExecutionPointer = std::shared_ptr<RecordedExecution>;

}  // namespace cellblock::gateway
