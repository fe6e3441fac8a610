#include "gateway/jobs/webhook.h"

#include <memory>
#include <utility>

#include <curl/curl.h>

#include "base/base64.h"
#include "base/digest.h"
#include "gateway/http/headers.h"
#include "gateway/jobs/job_limits.h"

namespace cellblock::gateway::jobs {
namespace {

constexpr std::string_view secret_prefix = "whsec_";

tl::unexpected<Error> bad(std::string cause) {
    return fail(ErrorCode::invalid_argument, "field 'webhook': " + std::move(cause));
}

using UrlHandle = std::unique_ptr<CURLU, decltype(&::curl_url_cleanup)>;

std::string part_of(const UrlHandle& url, CURLUPart part) {
    char* text = nullptr;
    if (::curl_url_get(url.get(), part, &text, 0) != CURLUE_OK) return {};
    std::string copy = text;
    ::curl_free(text);
    return copy;
}

// The bytes that sign: of "whsec_..." those that it encodes, as the specification has it.
std::string key_of(const std::string& secret) {
    if (secret.starts_with(secret_prefix)) {
        const auto decoded = base64_decode(secret.substr(secret_prefix.size()));
        if (decoded) return std::string(as_text(*decoded));
    }
    return secret;
}

}  // namespace

Result<std::string> webhook_host(const std::string& url) {
    if (url.size() > webhook_url_max_bytes) return bad("the URL is too long");
    for (const char c : url) {
        if (c <= ' ' || c == 0x7f) return bad("the URL has characters that no URL has");
    }
    // libcurl's own parser: what is checked here is what it calls later.
    const UrlHandle parsed(::curl_url(), &::curl_url_cleanup);
    if (!parsed || ::curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
        return bad("\"" + url + "\" is no URL");
    }
    const std::string scheme = part_of(parsed, CURLUPART_SCHEME);
    if (scheme != "http" && scheme != "https") return bad("the URL must be http or https");
    if (!part_of(parsed, CURLUPART_USER).empty() || !part_of(parsed, CURLUPART_PASSWORD).empty()) {
        return bad("the URL must not have a user or a password");
    }
    std::string host = http::to_lower(part_of(parsed, CURLUPART_HOST));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host.ends_with('.')) host.pop_back();
    if (host.empty() || host.find('%') != std::string::npos) return bad("the URL has no host");
    return host;
}

Result<Webhook> webhook_from(const Json& body, const CallPolicy& policy) {
    if (!body.is_object()) return bad("must be an object with 'url' and 'secret'");
    Webhook webhook;
    CB_TRY_ASSIGN(url, required_string(body, "url"));
    CB_TRY_ASSIGN(secret, required_string(body, "secret"));
    CB_TRY_ASSIGN(host, webhook_host(url));
    if (secret.size() < webhook_secret_min_bytes || secret.size() > webhook_secret_max_bytes) {
        return bad("'secret' must have " + std::to_string(webhook_secret_min_bytes) + " to " +
                   std::to_string(webhook_secret_max_bytes) + " bytes");
    }
    CB_TRY(policy.check_host(host));
    webhook.url = std::move(url);
    webhook.secret = std::move(secret);
    return webhook;
}

std::string webhook_signature(const std::string& secret, std::string_view message_id,
                              std::int64_t timestamp_s, std::string_view body) {
    std::string text(message_id);
    text += "." + std::to_string(timestamp_s) + ".";
    text += body;
    return "v1," + base64_encode(as_bytes(hmac_sha256(key_of(secret), text)));
}

std::vector<std::string> webhook_headers(const std::string& secret, const std::string& message_id,
                                         std::int64_t timestamp_s, std::string_view body) {
    return {"Content-Type: application/json",
            "User-Agent: cellblock",
            "Expect:",
            "webhook-id: " + message_id,
            "webhook-timestamp: " + std::to_string(timestamp_s),
            "webhook-signature: " + webhook_signature(secret, message_id, timestamp_s, body)};
}

}  // namespace cellblock::gateway::jobs
