// One cell run to its end, for the gateway itself: nothing is stored, and only what answers need of
// the outputs is kept.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/json.h"
#include "kernel-proxy/kernel.h"

namespace cellblock::gateway::jupyter {

struct CellRun {
    std::string text;  // of standard output
    Json result;       // the bundle of the cell's last expression; null: none
    std::optional<kernel_proxy::CellError> raised;
    kernel_proxy::Finished finished;

    CellRun() = default;
};

// `cancelled` when nobody waits for it any more: the cell is then stopped. too_large when it writes
// more than `text_max_bytes`.
boost::asio::awaitable<Result<CellRun>> run_cell(kernel_proxy::Kernel& kernel, std::string code,
                                                 std::chrono::milliseconds timeout,
                                                 std::size_t text_max_bytes);

}  // namespace cellblock::gateway::jupyter
