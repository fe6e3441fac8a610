// UTF-8 that comes from outside.
#pragma once

#include <string_view>

namespace cellblock {

// As RFC 3629 has it: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_valid_utf8(std::string_view text);

}  // namespace cellblock
