// The lines of a recorded execution as an answer: from any number on, while it runs.
#pragma once

#include <cstddef>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "gateway/executions/recorded_execution.h"
#include "gateway/http/response.h"

namespace cellblock::gateway::api {

// Until its end; keepalives in between, which are not counted.
boost::asio::awaitable<Result<void>> stream_lines(RecordedExecutionPointer execution,
                                                  std::size_t from, http::ResponseWriter& writer);

}  // namespace cellblock::gateway::api
