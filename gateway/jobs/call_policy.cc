#include "gateway/jobs/call_policy.h"

#include <algorithm>
#include <array>

#include "gateway/http/headers.h"

namespace cellblock::gateway::jobs {

namespace ip = boost::asio::ip;

namespace {

// The special-purpose registries of IANA (RFC 6890 and its successors), and multicast.
constexpr std::array not_public_v4 = {
    "0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4"};
// Global unicast is 2000::/3; of it these are not: Teredo, ORCHID and other protocol assignments,
// documentation, 6to4 (which carries any IPv4 address).
constexpr const char* global_v6 = "2000::/3";
constexpr std::array not_public_v6 = {"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"};

bool contains(const ip::network_v4& network, const ip::address_v4& address) {
    return (address.to_uint() & network.netmask().to_uint()) == network.network().to_uint();
}

bool contains(const ip::network_v6& network, const ip::address_v6& address) {
    const auto wanted = network.network().to_bytes();
    const auto given = address.to_bytes();
    unsigned bits = network.prefix_length();
    for (std::size_t i = 0; i < wanted.size() && bits > 0; ++i) {
        const unsigned here = std::min(bits, 8U);
        const auto mask = static_cast<unsigned char>(0xff << (8 - here));
        if ((wanted[i] & mask) != (given[i] & mask)) return false;
        bits -= here;
    }
    return true;
}

bool is_public_v4(const ip::address_v4& address) {
    return std::none_of(not_public_v4.begin(), not_public_v4.end(), [&](const char* network) {
        return contains(ip::make_network_v4(network), address);
    });
}

bool is_public_v6(const ip::address_v6& address) {
    if (!contains(ip::make_network_v6(global_v6), address)) return false;
    return std::none_of(not_public_v6.begin(), not_public_v6.end(), [&](const char* network) {
        return contains(ip::make_network_v6(network), address);
    });
}

// An IPv4 address in IPv6's clothes is the IPv4 address.
ip::address plain(const ip::address& address) {
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

bool is_name(std::string_view text) {
    if (text.empty() || text.size() > 253) return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    });
}

}  // namespace

bool is_public(const ip::address& address) {
    const ip::address real = plain(address);
    return real.is_v4() ? is_public_v4(real.to_v4()) : is_public_v6(real.to_v6());
}

Result<CallPolicy> CallPolicy::parse(const std::vector<std::string>& entries) {
    CallPolicy policy;
    for (const std::string& entry : entries) {
        boost::system::error_code ec;
        const std::string text = http::to_lower(entry);
        if (text == "*") {
            policy.any_public_ = true;
        } else if (const auto address = ip::make_address(text, ec); !ec) {
            if (address.is_v4()) {
                policy.ranges_.emplace_back(ip::network_v4(address.to_v4(), 32));
            } else {
                policy.ranges_.emplace_back(ip::network_v6(address.to_v6(), 128));
            }
        } else if (const auto v4 = ip::make_network_v4(text, ec); !ec) {
            policy.ranges_.emplace_back(v4.canonical());
        } else if (const auto v6 = ip::make_network_v6(text, ec); !ec) {
            policy.ranges_.emplace_back(v6.canonical());
        } else if (const auto name = text.starts_with("*.") ? text.substr(1) : text;
                   is_name(name)) {
            policy.names_.push_back(name);
        } else {
            return fail(ErrorCode::invalid_argument,
                        "\"" + entry + "\" is neither a host, an address nor a range",
                        "for example \"hooks.example.org\", \"*.example.org\", \"10.0.0.0/8\", "
                        "or \"*\" for every public address");
        }
    }
    return policy;
}

bool CallPolicy::names(std::string_view host) const {
    return std::any_of(names_.begin(), names_.end(), [host](const std::string& name) {
        return name.front() == '.' ? host.ends_with(name) && host.size() > name.size()
                                   : host == name;
    });
}

bool CallPolicy::allows(const std::string& host, const ip::address& address) const {
    const ip::address real = plain(address);
    for (const Range& range : ranges_) {
        const auto* v4 = std::get_if<ip::network_v4>(&range);
        const auto* v6 = std::get_if<ip::network_v6>(&range);
        if (v4 != nullptr && real.is_v4() && contains(*v4, real.to_v4())) return true;
        if (v6 != nullptr && real.is_v6() && contains(*v6, real.to_v6())) return true;
    }
    return names(host) || (any_public_ && is_public(real));
}

Result<void> CallPolicy::check_host(const std::string& host) const {
    boost::system::error_code ec;
    const ip::address address = ip::make_address(host, ec);
    // What a name resolves to is seen when it is called; loopback's name is known before.
    const bool local = host == "localhost" || host.ends_with(".localhost");
    bool possible = names(host) || any_public_ || !ranges_.empty();
    if (!ec) {
        possible = allows(host, address);
    } else if (local) {
        possible =
            allows(host, ip::address_v4::loopback()) || allows(host, ip::address_v6::loopback());
    }
    if (possible) return {};
    return fail(ErrorCode::forbidden, "this gateway does not call " + host,
                "its setting webhook_hosts says which hosts may be called; loopback and private "
                "addresses only when it names them");
}

}  // namespace cellblock::gateway::jobs
