// Links to one artifact that work without the token until they expire: for <img>, for people, for a
// chat app's browser.
//
// The signature is HMAC-SHA-256 (RFC 2104) over the artifact's id and the moment of expiry, under a
// key made from the gateway's token: a new token ends all links. It holds for GET of everything
// under /artifacts/{id}: the content, its chart, its rows. Immutable after construction.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gateway/http/uri.h"

namespace cellblock::gateway::auth {

inline constexpr std::chrono::seconds signed_link_default{3600};
// As long as the clouds' signed URLs live at the most.
inline constexpr std::chrono::seconds signed_link_max{7 * 24 * 3600};

class LinkSigner {
  public:
    explicit LinkSigner(std::string_view token);

    // The query of a link: "expires=1796083200&signature=…". `expires_s`: since 1970.
    std::string query_for(std::string_view artifact_id, std::int64_t expires_s) const;
    // unauthorized when the link has expired or was not made by us for this artifact.
    Result<void> check(std::string_view artifact_id, const http::Query& query,
                       std::int64_t now_s) const;

  private:
    std::string signature(std::string_view artifact_id, std::int64_t expires_s) const;

    std::string key_;
};

// The artifact that a path is about: /artifacts/{id}, /artifacts/{id}/rows, /artifacts/{id}.csv.
std::optional<std::string> artifact_in_path(const std::vector<std::string>& segments);

}  // namespace cellblock::gateway::auth
