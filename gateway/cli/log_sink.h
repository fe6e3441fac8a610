// The sink behind base/log.h for the gateway: spdlog, one JSON object a line.
#pragma once

#include <string>

#include "base/error.h"

namespace cellblock::gateway::cli {

// Before anything logs. `level`: debug, info, warning, error. `file`: appended to; empty: stderr.
Result<void> start_log(const std::string& level, const std::string& file);

}  // namespace cellblock::gateway::cli
