// A sandbox's description and its contexts as JSON, as they are written to disk. Read back with
// every field checked: a file may have been damaged. No I/O.
#pragma once

#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "gateway/sandboxes/sandbox_image.h"

namespace cellblock::gateway {

// Adds its members to the object `json`.
void describe(const SandboxSpec& spec, const std::vector<ContextImage>& contexts, Json& json);
Result<SandboxSpec> spec_from(const Json& json);
Result<std::vector<ContextImage>> contexts_from(const Json& json);

}  // namespace cellblock::gateway
