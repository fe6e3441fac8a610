// Identifiers: random, and checked where they come in.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace cellblock {

// Fills from getrandom(2); never fails on a booted Linux (aborts otherwise: no identity without
// entropy).
void fill_random(void* buffer, std::size_t size);

// A random UUID (RFC 9562 version 4), as Jupyter uses for kernels, sessions and messages.
std::string new_uuid();

// A random id of `length` characters out of [a-z0-9], as E2B's clients expect of sandboxes.
std::string new_short_id(std::size_t length = 20);

// A random secret of 256 bits in lower-case hex.
std::string new_secret();

// 1 to 64 characters out of [A-Za-z0-9_-]: what may name a sandbox, a context, an artifact in a
// path.
bool is_valid_id(std::string_view text);

// Whole-length comparison in constant time for equal lengths (the length itself is no secret).
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace cellblock
