#include "gateway/auth/guard.h"

#include <boost/asio/ip/address.hpp>

#include "base/clock.h"
#include "base/ids.h"
#include "gateway/http/headers.h"

namespace cellblock::gateway::auth {
namespace {

using http::equal_ignoring_case;

// "[::1]:8888" -> "::1", "localhost:8888" -> "localhost"
std::string_view host_name(std::string_view host) {
    if (!host.empty() && host.front() == '[') {
        const std::size_t close = host.find(']');
        return host.substr(1, close == std::string_view::npos ? close : close - 1);
    }
    return host.substr(0, host.find(':'));
}

bool is_ip_address(std::string_view name) {
    boost::system::error_code ec;
    boost::asio::ip::make_address(std::string(name), ec);
    return !ec;
}

bool ends_with_ignoring_case(std::string_view text, std::string_view end) {
    return text.size() >= end.size() &&
           equal_ignoring_case(text.substr(text.size() - end.size()), end);
}

bool reads(const http::Request& request) {
    return request.method() == "GET" || request.method() == "HEAD";
}

bool matches_host(std::string_view name, std::string_view pattern) {
    if (pattern == "*") return true;
    if (pattern.substr(0, 2) == "*.") return ends_with_ignoring_case(name, pattern.substr(1));
    return equal_ignoring_case(name, pattern);
}

}  // namespace

TokenGuard::TokenGuard(GuardOptions options)
    : options_(std::move(options)), links_(options_.token) {}

std::vector<std::string> presented_tokens(const http::Request& request) {
    std::vector<std::string> tokens;
    if (auto token = request.query().get("token")) tokens.push_back(std::move(*token));
    if (const auto field = request.headers().get("Authorization")) {
        const std::size_t space = field->find(' ');
        const std::string_view scheme = field->substr(0, space);
        const bool known =
            equal_ignoring_case(scheme, "token") || equal_ignoring_case(scheme, "bearer");
        if (known && space != std::string_view::npos) {
            tokens.emplace_back(http::trim(field->substr(space)));
        }
    }
    for (const std::string_view name :
         {"X-API-Key", "X-Access-Token", "E2B-Traffic-Access-Token"}) {
        if (const auto field = request.headers().get(name)) tokens.emplace_back(*field);
    }
    return tokens;
}

Result<std::string> TokenGuard::authenticate(const http::Request& request) const {
    if (options_.admission == Admission::everybody) return std::string("default");
    const std::vector<std::string> tokens = presented_tokens(request);
    for (const std::string& token : tokens) {
        if (!token.empty() && equal_in_constant_time(token, options_.token)) {
            return std::string("default");
        }
    }
    if (tokens.empty() && request.query().get("signature") && reads(request)) {
        if (const auto artifact = artifact_in_path(request.segments())) {
            CB_TRY(links_.check(*artifact, request.query(), wall_clock_ns() / 1'000'000'000));
            return std::string("default");
        }
    }
    return fail(
        ErrorCode::unauthorized,
        tokens.empty() ? "this needs the gateway's token, and none was sent" : "the token is wrong",
        "send \"Authorization: Bearer TOKEN\" or \"X-API-Key: TOKEN\"; the gateway printed "
        "its token when it started, and keeps it in its token file");
}

bool TokenGuard::host_allowed(std::string_view host) const {
    const std::string_view name = host_name(host);
    if (equal_ignoring_case(name, "localhost") || ends_with_ignoring_case(name, ".localhost")) {
        return true;
    }
    if (is_ip_address(name)) return true;
    for (const std::string& pattern : options_.allowed_hosts) {
        if (matches_host(name, pattern)) return true;
    }
    return false;
}

bool TokenGuard::origin_allowed(std::string_view origin, std::string_view host) const {
    const std::size_t scheme = origin.find("://");
    if (scheme != std::string_view::npos && equal_ignoring_case(origin.substr(scheme + 3), host)) {
        return true;
    }
    for (const std::string& allowed : options_.allowed_origins) {
        if (allowed == "*" || equal_ignoring_case(origin, allowed)) return true;
    }
    return false;
}

Result<void> TokenGuard::check_site(const http::Request& request) const {
    // HTTP/1.0 may come without Host; no browser does that.
    const std::string_view host = request.headers().get("Host").value_or("localhost");
    if (!host_allowed(host)) {
        return fail(
            ErrorCode::forbidden,
            "the host name \"" + std::string(host_name(host)) + "\" is not one of this gateway's",
            "use localhost or the IP address, or add the name to allowed_hosts");
    }
    const auto origin = request.headers().get("Origin");
    if (origin && !origin_allowed(*origin, host)) {
        return fail(ErrorCode::forbidden,
                    "web pages of " + std::string(*origin) + " may not call this gateway",
                    "add the origin to allowed_origins");
    }
    return {};
}

}  // namespace cellblock::gateway::auth
