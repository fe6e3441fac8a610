// An execution on disk, so that it outlives the gateway: what was asked, that it was sent, and each
// line that came, with how far the guest's messages were used.
//
//   <folder>/<id>.log    while it is not finished     <folder>/<id>.done   afterwards, for a while
//   <folder>/<id>.text   what it printed beyond the lines, while it is not finished
//
// One JSON object a line: {"h": the request}, {"s": how it was sent}, {"p": position, "l": [lines],
// "r": the recorder's state}, {"p": position}, {"a": status of the reply}. Written with write(2)
// and not synced: it outlives the process, and the VM does not outlive the host. A torn last line
// is as if it had not been written.
//
// Pure functions and blocking calls. Small records are written on the loop thread, as everything in
// a run folder; large ones on a worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "gateway/executions/recorder_state.h"
#include "kernel-proxy/execution.h"

namespace cellblock::gateway {

// What a log tells.
struct LoggedExecution {
    kernel_proxy::ExecuteRequest request;
    std::string sandbox_id;
    std::string context_id;
    std::string tenant;
    WallTime created_at;
    // The message header under which it was sent; empty: it was not.
    std::string header;
    WallTime deadline;  // once it was sent
    std::uint64_t position = 0;
    bool heard = false;   // the kernel has said something of it
    std::string reply;    // the status of its reply; empty: none yet
    bool raised = false;  // an error is among the lines
    std::vector<std::string> lines;
    RecorderState recorder;
    bool ended = false;

    LoggedExecution() = default;
};

std::string header_record(const LoggedExecution& execution);
std::string sent_record(std::string_view header, WallTime deadline, std::uint64_t position);
std::string position_record(std::uint64_t position);
std::string reply_record(std::string_view status);
// `lines`: JSON texts, without line ends.
std::string lines_record(std::uint64_t position, const std::vector<std::string>& lines,
                         const RecorderState& state);
// not_found, or `io` for what is no log.
Result<LoggedExecution> read_execution_log(const std::filesystem::path& path);

// The open end of one.
class ExecutionLog {
  public:
    // A new file with this record; or an old one, cut behind its last whole line.
    static Result<ExecutionLog> create(const std::filesystem::path& folder, const std::string& id,
                                       std::string_view header);
    static Result<ExecutionLog> reopen(const std::filesystem::path& folder, const std::string& id);

    Result<void> append(std::string_view record);
    Result<void> append_text(std::string_view text);
    // Its text begins as the other's, which is not being written.
    Result<void> copy_text_of(const std::string& other_id);
    // The first `bytes` of the text; what is behind them is cut off.
    Result<std::string> restore_text(std::uint64_t bytes);
    // It is complete: renamed, its text removed.
    Result<void> finish();

  private:
    ExecutionLog(std::filesystem::path folder, std::string id, Fd fd)
        : folder_(std::move(folder)), id_(std::move(id)), fd_(std::move(fd)) {}
    std::filesystem::path text_path() const { return folder_ / (id_ + ".text"); }

    std::filesystem::path folder_;
    std::string id_;
    Fd fd_;
    Fd text_;
};

std::filesystem::path log_path(const std::filesystem::path& folder, const std::string& id);
std::filesystem::path done_path(const std::filesystem::path& folder, const std::string& id);

}  // namespace cellblock::gateway
