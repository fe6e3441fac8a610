#include "gateway/http/uri.h"

#include "base/hex.h"
#include "base/unicode.h"
#include "gateway/http/headers.h"

namespace cellblock::gateway::http {
namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string form_decode(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+') {
            decoded += ' ';
            continue;
        }
        const bool escape = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                            hex_value(text[i + 2]) >= 0;
        if (!escape) {
            decoded += text[i];
            continue;
        }
        decoded += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
        i += 2;
    }
    return decoded;
}

// A segment may hold decoded slashes (a whole path sent as one); none of its parts may climb.
bool climbs(std::string_view segment) {
    while (true) {
        const std::size_t slash = segment.find('/');
        const std::string_view part = segment.substr(0, slash);
        if (part == "." || part == "..") return true;
        if (slash == std::string_view::npos) return false;
        segment.remove_prefix(slash + 1);
    }
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = hex_value(text[i + 1]);
        const int low = hex_value(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return decoded;
}

std::string percent_encode(std::string_view text) {
    std::string encoded;
    for (const char c : text) {
        const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                                c == '~';
        if (unreserved) {
            encoded += c;
        } else {
            append_percent_encoded(encoded, c);
        }
    }
    return encoded;
}

Query Query::parse(std::string_view text) {
    Query query;
    while (!text.empty()) {
        const std::size_t end = text.find('&');
        const std::string_view pair = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (pair.empty()) continue;
        const std::size_t equals = pair.find('=');
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
        query.items_.emplace_back(form_decode(pair.substr(0, equals)), form_decode(value));
    }
    return query;
}

std::optional<std::string> Query::get(std::string_view name) const {
    for (const auto& [key, value] : items_) {
        if (key == name) return value;
    }
    return std::nullopt;
}

std::vector<std::string> Query::all(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [key, value] : items_) {
        if (key == name) values.push_back(value);
    }
    return values;
}

Result<Target> parse_target(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!equal_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
        target.remove_prefix(scheme.size());
        target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
    }
    Target parsed;
    const std::size_t question = target.find('?');
    parsed.path = std::string(target.substr(0, question));
    if (question != std::string_view::npos) {
        parsed.query = Query::parse(target.substr(question + 1));
    }
    std::string_view rest = parsed.path;
    if (rest.empty() || rest == "*" || rest == "/") return parsed;
    rest.remove_prefix(1);
    while (true) {
        const std::size_t slash = rest.find('/');
        auto segment = percent_decode(rest.substr(0, slash));
        if (!segment) {
            return fail(ErrorCode::invalid_argument, "the path has a broken percent escape");
        }
        if (segment->find('\0') != std::string::npos || !is_valid_utf8(*segment)) {
            return fail(ErrorCode::invalid_argument, "the path is not valid UTF-8 text");
        }
        if (climbs(*segment)) {
            return fail(ErrorCode::invalid_argument,
                        "the path has a segment \".\" or \"..\", which is not allowed",
                        "send the path in its final form");
        }
        parsed.segments.push_back(std::move(*segment));
        if (slash == std::string_view::npos) return parsed;
        rest.remove_prefix(slash + 1);
    }
}

}  // namespace cellblock::gateway::http
