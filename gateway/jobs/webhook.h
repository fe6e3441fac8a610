// A webhook: where a job's end is told by POST, and how the receiver knows that it is us.
//
// Headers and signature are those of Standard Webhooks 1.0: "webhook-id", "webhook-timestamp"
// (seconds), "webhook-signature: v1,<base64 of HMAC-SHA-256 over id.timestamp.body>". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "gateway/jobs/call_policy.h"

namespace cellblock::gateway::jobs {

struct Webhook {
    std::string url;
    std::string secret;  // as given: "whsec_" and base64, or any text
};

// http or https, a host, no user and password in it. invalid_argument otherwise.
// Lower case, without brackets or a final dot.
Result<std::string> webhook_host(const std::string& url);

// {"url": "...", "secret": "..."}, and a host that `policy` lets be called.
Result<Webhook> webhook_from(const Json& body, const CallPolicy& policy);

// "v1,..." for a body sent at `timestamp_s` under `message_id`.
std::string webhook_signature(const std::string& secret, std::string_view message_id,
                              std::int64_t timestamp_s, std::string_view body);
// The header lines of one message.
std::vector<std::string> webhook_headers(const std::string& secret, const std::string& message_id,
                                         std::int64_t timestamp_s, std::string_view body);

}  // namespace cellblock::gateway::jobs
