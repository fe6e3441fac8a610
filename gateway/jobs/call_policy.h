// Which hosts the gateway may call on behalf of a client (webhooks): what keeps a client from
// reaching through the gateway what only the gateway can reach.
//
// The operator's entries: "*" any host with a public address; a name ("hooks.example.org",
// "*.example.org") or an address or range ("127.0.0.1", "10.0.0.0/8", "fd00::/8"), which are then
// allowed wherever they lie. The address that is connected to is what counts, checked when the
// socket is made: a name that changes its mind after a check has no use. Immutable; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "base/error.h"

namespace cellblock::gateway::jobs {

// Neither loopback nor private, link-local, shared, reserved, multicast, nor a way around these
// (IPv4 inside IPv6).
bool is_public(const boost::asio::ip::address& address);

class CallPolicy {
  public:
    // invalid_argument for an entry that is none of the above.
    static Result<CallPolicy> parse(const std::vector<std::string>& entries);

    // Early, for a clear answer: forbidden when no address of that host could ever be called.
    // `host`: lower case, IPv6 without brackets.
    Result<void> check_host(const std::string& host) const;
    // Whether a connection to this address may be made for a URL with that host.
    bool allows(const std::string& host, const boost::asio::ip::address& address) const;

  private:
    CallPolicy() = default;
    bool names(std::string_view host) const;

    using Range = std::variant<boost::asio::ip::network_v4, boost::asio::ip::network_v6>;
    bool any_public_ = false;
    std::vector<std::string> names_;  // lower case; ".example.org" for "*.example.org"
    std::vector<Range> ranges_;
};

}  // namespace cellblock::gateway::jobs
