// The claim as JSON: what the agent is told, and what it answers (guest data: bounded and checked).
#pragma once

#include "base/json.h"
#include "vm/machine/machine.h"

namespace cellblock::vm {

// With fresh entropy and the wall clock of this moment: make it, send it.
Json claim_parameters(const ClaimRequest& request);
// Kernels without a valid id are left out.
ClaimReply claim_reply(const Json& result);

}  // namespace cellblock::vm
