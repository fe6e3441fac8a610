#include "gateway/auth/signed_link.h"

#include <algorithm>
#include <charconv>

#include "base/base64.h"
#include "base/digest.h"
#include "base/ids.h"

namespace cellblock::gateway::auth {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

LinkSigner::LinkSigner(std::string_view token) : key_(hmac_sha256(token, "artifact links")) {}

std::string LinkSigner::signature(std::string_view artifact_id, std::int64_t expires_s) const {
    const std::string text = std::string(artifact_id) + "\n" + std::to_string(expires_s);
    std::string signature = base64_encode(as_bytes(hmac_sha256(key_, text)));
    // The URL-safe alphabet of RFC 4648, without padding.
    std::replace(signature.begin(), signature.end(), '+', '-');
    std::replace(signature.begin(), signature.end(), '/', '_');
    while (signature.ends_with('=')) signature.pop_back();
    return signature;
}

std::string LinkSigner::query_for(std::string_view artifact_id, std::int64_t expires_s) const {
    return "expires=" + std::to_string(expires_s) +
           "&signature=" + signature(artifact_id, expires_s);
}

Result<void> LinkSigner::check(std::string_view artifact_id, const http::Query& query,
                               std::int64_t now_s) const {
    const auto expires_s = whole_number(query.get("expires").value_or(""));
    const std::string given = query.get("signature").value_or("");
    if (!expires_s || !equal_in_constant_time(given, signature(artifact_id, *expires_s))) {
        return fail(ErrorCode::unauthorized, "the link's signature is wrong",
                    "ask for a new one: POST /artifacts/{id}/link");
    }
    if (now_s >= *expires_s) {
        return fail(ErrorCode::unauthorized, "the link has expired",
                    "ask for a new one: POST /artifacts/{id}/link");
    }
    return {};
}

std::optional<std::string> artifact_in_path(const std::vector<std::string>& segments) {
    if (segments.size() < 2 || segments[0] != "artifacts") return std::nullopt;
    return segments[1].substr(0, segments[1].find('.'));
}

}  // namespace cellblock::gateway::auth
