#include "gateway/http/head_check.h"

#include <array>
#include <cstdint>

#include "base/limits.h"
#include "gateway/http/headers.h"

namespace cellblock::gateway::http {
namespace {

using Checked = tl::expected<void, HeadProblem>;

tl::unexpected<HeadProblem> refuse(int status, std::string message) {
    return tl::unexpected<HeadProblem>(HeadProblem(status, std::move(message)));
}

// RFC 9110 5.6.2.
bool is_token_char(char c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
bool is_token(std::string_view text) {
    for (const char c : text) {
        if (!is_token_char(c)) return false;
    }
    return !text.empty();
}
bool is_control(char c) {
    const auto u = static_cast<unsigned char>(c);
    return u < 0x20 || u == 0x7f;
}
bool is_digits(std::string_view text) {
    for (const char c : text) {
        if (c < '0' || c > '9') return false;
    }
    return !text.empty();
}

// Fields that must not come twice: two readers may each believe in another one.
enum Single : std::size_t {
    single_host,
    single_content_length,
    single_transfer_encoding,
    single_authorization,
    single_origin,
    single_content_type,
    single_expect,
    single_count
};
constexpr std::array<std::string_view, single_count> single_names = {
    "Host",         "Content-Length", "Transfer-Encoding", "Authorization", "Origin",
    "Content-Type", "Expect"};

struct Seen {
    std::array<bool, single_count> present{};
    std::array<std::string_view, single_count> value{};
    std::string_view method;
    std::string_view target;
    int minor_version = 1;
};

Checked check_request_line(std::string_view line, Seen& seen) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) {
        return refuse(400, "the request line is not METHOD TARGET HTTP/1.1");
    }
    seen.method = line.substr(0, first);
    seen.target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    if (!is_token(seen.method)) return refuse(400, "the request method is malformed");
    if (version == "HTTP/1.0") {
        seen.minor_version = 0;
    } else if (version != "HTTP/1.1") {
        const bool is_http = version.substr(0, 5) == "HTTP/";
        return refuse(is_http ? 505 : 400, is_http
                                               ? "only HTTP/1.0 and HTTP/1.1 are spoken here"
                                               : "the request line is not METHOD TARGET HTTP/1.1");
    }
    if (seen.target.size() > limits::http_target_max_bytes) {
        return refuse(414, "the request target is longer than " +
                               std::to_string(limits::http_target_max_bytes) + " bytes");
    }
    if (seen.target.empty()) return refuse(400, "the request target is empty");
    for (const char c : seen.target) {
        if (is_control(c) || c == ' ' || c == '#') {
            return refuse(400, "the request target has a character that must be percent-encoded");
        }
    }
    return {};
}

// The target's form: a path; "*" for OPTIONS; or an absolute http URL whose authority is the Host.
Checked check_target(const Seen& seen) {
    if (seen.target.front() == '/') return {};
    if (seen.target == "*" && seen.method == "OPTIONS") return {};
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!equal_ignoring_case(seen.target.substr(0, scheme.size()), scheme)) continue;
        const std::string_view rest = seen.target.substr(scheme.size());
        const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
        if (!seen.present[single_host] ||
            !equal_ignoring_case(authority, seen.value[single_host])) {
            return refuse(400, "the host in the request target is not the Host header's");
        }
        return {};
    }
    if (seen.method == "CONNECT") return refuse(501, "this server is no proxy");
    return refuse(400, "the request target does not begin with /");
}

Checked check_field(std::string_view line, Seen& seen) {
    if (line.front() == ' ' || line.front() == '\t') {
        return refuse(400, "a header field is folded over two lines, which HTTP/1.1 forbids");
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return refuse(400, "a header line has no colon");
    const std::string_view name = line.substr(0, colon);
    if (!is_token(name)) return refuse(400, "a header field's name is malformed");
    const std::string_view value = trim(line.substr(colon + 1));
    for (const char c : value) {
        if (is_control(c) && c != '\t') {
            return refuse(400, "header field " + std::string(name) + " has a control character");
        }
    }
    for (std::size_t i = 0; i < single_count; ++i) {
        if (!equal_ignoring_case(name, single_names[i])) continue;
        if (seen.present[i]) {
            return refuse(400, "header field " + std::string(single_names[i]) + " comes twice");
        }
        seen.present[i] = true;
        seen.value[i] = value;
    }
    return {};
}

Checked check_framing(const Seen& seen) {
    const bool has_length = seen.present[single_content_length];
    const bool has_encoding = seen.present[single_transfer_encoding];
    if (has_length && has_encoding) {
        return refuse(400, "Content-Length and Transfer-Encoding contradict each other");
    }
    if (has_length) {
        const std::string_view value = seen.value[single_content_length];
        // 18 digits stay below 2^63: no reader overflows.
        if (!is_digits(value) || value.size() > 18) {
            return refuse(400, "Content-Length is not a number of bytes");
        }
    }
    if (has_encoding) {
        if (seen.minor_version == 0) {
            return refuse(400, "HTTP/1.0 has no Transfer-Encoding");
        }
        if (!equal_ignoring_case(seen.value[single_transfer_encoding], "chunked")) {
            return refuse(501, "the only Transfer-Encoding understood here is chunked");
        }
    }
    if (seen.present[single_expect] &&
        !equal_ignoring_case(seen.value[single_expect], "100-continue")) {
        return refuse(417, "the only expectation understood here is 100-continue");
    }
    return {};
}

Checked check_host(const Seen& seen) {
    if (!seen.present[single_host]) {
        if (seen.minor_version == 0) return {};
        return refuse(400, "the Host header is missing");
    }
    if (!is_valid_host(seen.value[single_host])) {
        return refuse(400, "the Host header is malformed");
    }
    return {};
}

}  // namespace

bool is_valid_host(std::string_view host) {
    std::string_view port;
    if (!host.empty() && host.front() == '[') {
        const std::size_t close = host.find(']');
        if (close == std::string_view::npos) return false;
        for (const char c : host.substr(1, close - 1)) {
            const bool hex =
                (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
            if (!hex && c != ':' && c != '.') return false;
        }
        if (close == 1) return false;
        const std::string_view rest = host.substr(close + 1);
        if (rest.empty()) return true;
        if (rest.front() != ':') return false;
        port = rest.substr(1);
    } else {
        const std::size_t colon = host.find(':');
        const std::string_view name = host.substr(0, colon);
        if (name.empty() || name.size() > 255) return false;
        for (const char c : name) {
            const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
            if (!ok) return false;
        }
        if (colon == std::string_view::npos) return true;
        port = host.substr(colon + 1);
    }
    return is_digits(port) && port.size() <= 5;
}

HeadEnd find_head_end(std::string_view received) {
    std::size_t line_start = 0;
    while (true) {
        const std::size_t newline = received.find('\n', line_start);
        if (newline == std::string_view::npos) return HeadEnd{HeadScan::need_more, 0};
        if (newline == line_start || received[newline - 1] != '\r') {
            return HeadEnd{HeadScan::bare_newline, 0};
        }
        if (newline == line_start + 1) return HeadEnd{HeadScan::complete, newline + 1};
        line_start = newline + 1;
    }
}

tl::expected<void, HeadProblem> check_head(std::string_view head) {
    Seen seen;
    std::size_t fields = 0;
    bool first = true;
    while (true) {
        const std::size_t end = head.find("\r\n");
        if (end == std::string_view::npos) return refuse(400, "the request head is incomplete");
        const std::string_view line = head.substr(0, end);
        head.remove_prefix(end + 2);
        if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
            return refuse(400, "the request head has a stray control character");
        }
        if (first) {
            if (auto ok = check_request_line(line, seen); !ok) return ok;
            first = false;
            continue;
        }
        if (line.empty()) break;
        if (++fields > limits::http_header_fields_max) {
            return refuse(431, "more than " + std::to_string(limits::http_header_fields_max) +
                                   " header fields");
        }
        if (auto ok = check_field(line, seen); !ok) return ok;
    }
    if (!head.empty()) return refuse(400, "bytes follow the empty line of the head");
    if (auto ok = check_host(seen); !ok) return ok;
    if (auto ok = check_target(seen); !ok) return ok;
    return check_framing(seen);
}

}  // namespace cellblock::gateway::http
