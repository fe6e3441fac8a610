// HMAC-SHA-256 (RFC 2104): what our signatures are made of. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cellblock::gateway::auth {

// 32 raw bytes.
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace cellblock::gateway::auth
