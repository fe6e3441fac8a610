// Cross-origin answers for origins that the guard let pass. Pure.
#pragma once

#include <string>

#include "gateway/http/request.h"

namespace cellblock::gateway::http {

// Echoes the request's Origin, if it has one.
void allow_origin(const Request& request, Headers& answer);
// The answer to a preflight; `methods` as in Allow.
void allow_preflight(const Request& request, const std::string& methods, Headers& answer);

}  // namespace cellblock::gateway::http
