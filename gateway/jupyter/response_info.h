// What a ResponseInfo cell prints: {"headers": {"Content-Type": "text/html"}, "status": 201}. Pure;
// a guest wrote it, so nothing of it may reshape our answer.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace cellblock::gateway::jupyter {

struct ResponseInfo {
    int status = 200;
    std::string content_type = "text/plain";
    std::vector<std::pair<std::string, std::string>> headers;  // the others

    ResponseInfo() = default;
};

Result<ResponseInfo> response_info_from(std::string_view text);

}  // namespace cellblock::gateway::jupyter
