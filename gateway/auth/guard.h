// Decides who may ask: the token, a signed link (signed_link.h), and the site that a request comes
// from.
//
// Host: a web page cannot forge it, but DNS rebinding makes a foreign *name* point at us, so only
// names that we know pass. An IP address as Host is no name and cannot be rebound: it passes.
// Origin: sent by browsers for cross-site requests; none, our own, or a configured one passes.
// Immutable after construction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gateway/auth/admission.h"
#include "gateway/auth/signed_link.h"
#include "gateway/http/server_core.h"

namespace cellblock::gateway::auth {

struct GuardOptions {
    Admission admission = Admission::with_token;  // sites are checked for everybody
    std::string token;                            // empty: none fits
    std::vector<std::string> allowed_hosts;       // "example.org", "*.example.org", "*"
    std::vector<std::string> allowed_origins;     // "https://example.org", "*"

    GuardOptions() = default;
};

class TokenGuard final : public http::Guard {
  public:
    explicit TokenGuard(GuardOptions options);

    Result<void> check_site(const http::Request& request) const override;
    Result<std::string> authenticate(const http::Request& request) const override;

  private:
    bool host_allowed(std::string_view host) const;
    bool origin_allowed(std::string_view origin, std::string_view host) const;

    const GuardOptions options_;
    const LinkSigner links_;
};

// Everything in a request that may be a token: ?token=, Authorization (token, Bearer), X-API-Key,
// X-Access-Token, E2B-Traffic-Access-Token (what E2B's clients send with contexts).
std::vector<std::string> presented_tokens(const http::Request& request);

}  // namespace cellblock::gateway::auth
