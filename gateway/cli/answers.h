// What the commands read of the gateway's answers.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "gateway/cli/http_client.h"

namespace cellblock::gateway::cli {

// The body of an answer, bounded.
Result<Json> json_of(const HttpReply& reply);

// All items of a list that comes in pages (E2B's nextToken), in its order. `path` has a query.
Result<Json> all_pages(HttpClient& client, const std::string& path);

// A field as a person reads it: "" when it is absent or null, JSON when it is no string.
std::string text_of(const Json& object, std::string_view field);

}  // namespace cellblock::gateway::cli
