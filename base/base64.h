// Base64 (RFC 4648 section 4, with padding).
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

namespace cellblock {

std::string base64_encode(ByteView bytes);

// Strict but for white space (Python's encoders wrap lines). invalid_argument on anything else.
Result<Bytes> base64_decode(std::string_view text);

}  // namespace cellblock
