// One question and one answer, each a line of JSON, over a Unix socket: how the agent talks to the
// zygote and to a kernel's identity thread. The peer is the guest's user: the answer is bounded.
#pragma once

#include <filesystem>

#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"

namespace cellblock::vm::agent {

// An answer {"error": "text"} becomes an Error. `whom` names the peer: "the zygote".
boost::asio::awaitable<Result<Json>> ask(std::filesystem::path socket, Json question,
                                         Deadline deadline, std::string whom);

}  // namespace cellblock::vm::agent
