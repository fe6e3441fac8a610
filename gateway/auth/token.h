// The gateway's token: made at the first start, kept in a file that only its owner reads.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace cellblock::gateway::auth {

// "e2b_" and 64 hex digits: E2B's clients check the form of an API key before they send it.
std::string new_token();

// Reads the file, or makes it (0600) with a new token. Refuses a file that others can read, or
// whose content is no token. Blocking: for start-up.
Result<std::string> load_or_create_token(const std::filesystem::path& file);

// As above, but never makes one: for clients on the same machine.
Result<std::string> load_token(const std::filesystem::path& file);

}  // namespace cellblock::gateway::auth
