// What one execution produces, in the order in which the kernel published it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace cellblock::kernel_proxy {

// execute_input: the kernel took the cell.
struct ExecutionStarted {
    std::int64_t execution_count = 0;
};

enum class StreamName { standard_output, standard_error };
struct StreamText {
    StreamName name = StreamName::standard_output;
    std::string text;
};

// display: display_data; result: execute_result; update: update_display_data of an earlier
// display_id.
enum class DisplayKind { display, result, update };
struct Display {
    DisplayKind kind = DisplayKind::display;
    Json data;      // MIME type -> value
    Json metadata;  // MIME type -> options
    std::string display_id;
};

enum class ClearWhen { now, with_next_output };
struct ClearOutput {
    ClearWhen when = ClearWhen::now;
};

// The cell raised, or the kernel said why it did not run it.
struct CellError {
    std::string name;
    std::string value;
    std::vector<std::string> traceback;
};

// A kernel message was too large for the link, or unreadable.
struct Dropped {
    std::string reason;
};

// How an execution ended. Always the last event, exactly once.
enum class Outcome {
    ok,
    error,               // the cell raised; a CellError came before
    aborted,             // the kernel refused it because an earlier queued cell failed
    interrupted,         // interrupted by request
    restarted,           // its kernel was restarted by request
    cancelled,           // the caller went away or took it back from the queue
    timeout,             // its deadline passed
    kernel_died,         // the kernel process ended under it
    out_of_memory,       // ... because the sandbox's memory limit was reached
    too_many_processes,  // ... because it had started too many: a fork bomb
    sandbox_gone,        // the microVM ended
    internal,            // the gateway could not run it
};
struct Finished {
    Outcome outcome = Outcome::ok;
    Error error;  // cause and advice for every outcome that is neither ok nor error
    std::vector<std::string> traceback;  // where the cell was when it was interrupted, if known

    Finished() = default;
    explicit Finished(Outcome outcome_, Error error_ = {}, std::vector<std::string> traceback_ = {})
        : outcome(outcome_), error(std::move(error_)), traceback(std::move(traceback_)) {}
};

using OutputEvent =
    std::variant<ExecutionStarted, StreamText, Display, ClearOutput, CellError, Dropped, Finished>;

}  // namespace cellblock::kernel_proxy
