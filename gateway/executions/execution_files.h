// The folder of execution logs (execution_log.h): what is unfinished, and what is old. Blocking.
#pragma once

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "gateway/executions/execution_log.h"

namespace cellblock::gateway {

// Oldest first. Makes the folder; what cannot be read is logged and removed.
Result<std::vector<LoggedExecution>> read_unfinished(const std::filesystem::path& folder);

// Removes logs of executions that ended long ago, and the oldest when there are too many.
Result<void> trim_finished(const std::filesystem::path& folder);

}  // namespace cellblock::gateway
