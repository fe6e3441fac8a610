// The throw-away cell of a machine in the warm pool: after it the guest's translated code and page
// mappings are hot, so that the first real cell costs a tenth of what it would.
//
// Loop thread only.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "vm/machine/machine.h"

namespace cellblock::gateway {

// Runs it in the template's kernel. It leaves nothing behind: no name, no history, no number.
boost::asio::awaitable<Result<void>> warm_up(vm::Machine& machine);

}  // namespace cellblock::gateway
