// The seed notebook: cells that every new kernel runs before a client gets it, as kernel_gateway
// does it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"

namespace cellblock::kernel_proxy {
class Kernel;
}

namespace cellblock::gateway::jupyter {

// The code cells of a notebook (nbformat 4) whose kernelspec, if it names one, we have. Pure.
Result<std::vector<std::string>> seed_cells(std::string_view notebook);

// internal, with the cell's own words, when one raises.
boost::asio::awaitable<Result<void>> seed_kernel(kernel_proxy::Kernel& kernel,
                                                 const std::vector<std::string>& cells);

}  // namespace cellblock::gateway::jupyter
