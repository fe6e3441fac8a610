// The frames of a message, as tests write them.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"

namespace cellblock {

using Texts = std::vector<std::string>;

// They live as long as `texts`.
inline std::vector<ByteView> views_of(const Texts& texts) {
    std::vector<ByteView> views;
    for (const std::string& text : texts) views.push_back(as_bytes(text));
    return views;
}

}  // namespace cellblock
