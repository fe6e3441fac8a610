// The clone handshake and the clock: what has to be true before a guest serves anyone.
#pragma once

#include <map>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/json.h"

namespace cellblock::vm::agent {

class Agent;

// The call `claim`. In this order: entropy credited and the kernel's generator reseeded, clock,
// host name, machine id, memory limit, every running kernel reseeded and confirmed. The first
// failure is the answer, and the host must not serve from this guest.
boost::asio::awaitable<Result<Json>> claim(Agent& agent, Json params);

// The call `clock` {"step_by_ns"}: moves the wall clock by so much (0: only asks) and answers
// {"guest_ns"}, the time after it. A difference, because an absolute time ages on its way.
boost::asio::awaitable<Result<Json>> answer_clock(Agent& agent, Json params);

// The field "env": an object of strings, or absent.
Result<std::map<std::string, std::string>> parse_environment(const Json& params);

}  // namespace cellblock::vm::agent
