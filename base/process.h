// Child processes: spawned with an exact set of descriptors, waited for by pidfd, killed without
// races.
//
// Owner: whoever holds the Process; its destructor kills and reaps. Loop thread only.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"

namespace cellblock {

struct ExitStatus {
    int exit_code = -1;  // -1 when a signal ended it
    int signal = 0;      // 0 when it exited
    bool success() const { return exit_code == 0; }
    std::string text() const;  // "exit code 3", "signal 9 (Killed)"
};

struct SpawnOptions {
    std::vector<std::string> argv;                                  // argv[0] is looked up in PATH
    std::optional<std::map<std::string, std::string>> environment;  // absent: inherited
    Fd standard_input;                                              // absent: /dev/null
    Fd standard_output;                                             // absent: /dev/null
    Fd standard_error;                                              // absent: /dev/null
    // Descriptors the child inherits under the same numbers; all others are closed in it.
    std::vector<int> inherited;
    std::string working_directory;  // empty: inherited

    SpawnOptions() = default;
    explicit SpawnOptions(std::vector<std::string> argv_) : argv(std::move(argv_)) {}
};

class Process {
  public:
    static Result<Process> spawn(boost::asio::any_io_executor executor, SpawnOptions options);

    Process(Process&&) noexcept;
    Process& operator=(Process&&) noexcept;
    ~Process();

    pid_t pid() const { return pid_; }
    bool running() const { return pid_ > 0 && !status_; }
    // By pidfd: can never hit an unrelated process. No-op once the child is reaped.
    Result<void> signal(int signal_number);
    // Resumes when the child has ended; afterwards the status stays known.
    boost::asio::awaitable<Result<ExitStatus>> wait();
    // As wait(), but gives up with `timeout` at the deadline; the child lives on.
    boost::asio::awaitable<Result<ExitStatus>> wait_until(Deadline deadline);
    // Lets the child live when this object goes (a VM that outlives its gateway). Its pid.
    pid_t release();

  private:
    Process() = default;
    Result<ExitStatus> reap();

    pid_t pid_ = -1;
    std::optional<boost::asio::posix::stream_descriptor> pidfd_;
    std::optional<ExitStatus> status_;
};

struct CommandOutput {
    ExitStatus status;
    std::string standard_output;  // cut at the limit given
    std::string standard_error;
};

// Runs a short command to its end on the calling thread (start-up, doctor, worker threads).
Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                  std::size_t max_output_bytes, std::chrono::milliseconds timeout);

}  // namespace cellblock
