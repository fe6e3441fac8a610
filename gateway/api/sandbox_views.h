// Sandboxes as the control plane names and shows them. Loop thread only.
#pragma once

#include "gateway/api/sandboxes_json.h"
#include "gateway/api/services.h"
#include "gateway/http/request.h"

namespace cellblock::gateway::api {

SandboxView view_of(const Sandbox& sandbox, const Services& services);

// A sandbox that has ended is 404 for the control plane, with its reason in the message; only the
// data plane says 502.
Error as_not_found(Error error);

// The sandbox of the path's {id}.
Result<SandboxPointer> named_sandbox(const http::Request& request, const Services& services);

}  // namespace cellblock::gateway::api
