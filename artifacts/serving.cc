#include "artifacts/serving.h"

#include <algorithm>
#include <array>

#include "artifacts/text.h"
#include "base/hex.h"

namespace cellblock::artifacts {
namespace {

constexpr std::size_t mime_max_bytes = 128;

bool is_token_char(char c) {
    const bool alphanumeric =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return alphanumeric || std::string_view("!#$&-^_.+").find(c) != std::string_view::npos;
}

bool is_plain_type(std::string_view mime) {
    const std::size_t slash = mime.find('/');
    if (mime.size() > mime_max_bytes || slash == std::string_view::npos) return false;
    const std::string_view type = mime.substr(0, slash);
    const std::string_view subtype = mime.substr(slash + 1);
    return !type.empty() && !subtype.empty() &&
           std::all_of(type.begin(), type.end(), is_token_char) &&
           std::all_of(subtype.begin(), subtype.end(), is_token_char);
}

// What a browser only decodes or shows as text, and never runs.
bool is_shown_inline(std::string_view mime) {
    static constexpr std::array shown = {
        std::string_view("image/png"),  std::string_view("image/jpeg"),
        std::string_view("image/gif"),  std::string_view("image/webp"),
        std::string_view("text/plain"), std::string_view("application/json"),
    };
    return std::find(shown.begin(), shown.end(), mime) != shown.end();
}

// What can carry script: shown only inside a sandbox without an origin.
bool is_active(std::string_view mime) {
    return mime == "text/html" || mime == "image/svg+xml" || mime == "application/xhtml+xml";
}

// RFC 8187: attr-char as it is, every other byte of the UTF-8 as %XX.
std::string percent_encoded(std::string_view text) {
    std::string encoded;
    for (const char c : text) {
        if (is_token_char(c)) {
            encoded += c;
        } else {
            append_percent_encoded(encoded, c);
        }
    }
    return encoded;
}

}  // namespace

std::string served_type(std::string_view mime) {
    if (!is_plain_type(mime)) return "application/octet-stream";
    const bool is_text = mime.starts_with("text/") || mime == "application/javascript";
    return std::string(mime) + (is_text ? "; charset=utf-8" : "");
}

std::string content_disposition(std::string_view name, bool is_inline) {
    const std::string safe = safe_name(name, "artifact");
    std::string ascii;
    for (std::size_t at = 0; at < safe.size();) {
        const CodePoint c = code_point_at(safe, at);
        at += c.size_bytes;
        const bool plain = c.value >= 0x20 && c.value < 0x7F && c.value != '"' && c.value != '\\';
        ascii += plain ? static_cast<char>(c.value) : '_';
    }
    std::string header = is_inline ? "inline" : "attachment";
    header += "; filename=\"" + ascii + "\"";
    if (ascii != safe) header += "; filename*=UTF-8''" + percent_encoded(safe);
    return header;
}

std::string entity_tag(const Artifact& artifact) {
    return "\"" + artifact.sha256 + "\"";
}

bool matches_entity_tag(std::string_view header, std::string_view tag) {
    while (!header.empty()) {
        const std::size_t comma = header.find(',');
        std::string_view one = header.substr(0, comma);
        header = comma == std::string_view::npos ? std::string_view() : header.substr(comma + 1);
        while (!one.empty() && (one.front() == ' ' || one.front() == '\t')) one.remove_prefix(1);
        while (!one.empty() && (one.back() == ' ' || one.back() == '\t')) one.remove_suffix(1);
        if (one.starts_with("W/")) one.remove_prefix(2);
        if (one == "*" || one == tag) return true;
    }
    return false;
}

Headers view_headers(std::string_view mime, std::string_view name) {
    const std::string_view type = mime.substr(0, mime.find(';'));
    const bool active = is_active(type);
    Headers headers;
    headers.emplace_back("Content-Type", served_type(type));
    headers.emplace_back("Content-Disposition",
                         content_disposition(name, active || is_shown_inline(type)));
    headers.emplace_back("X-Content-Type-Options", "nosniff");
    // No scripts and no requests, also for HTML: the address that it was opened by may carry a
    // token, which a script could read and send away. Interactive figures are drawn from chart
    // data.
    headers.emplace_back("Content-Security-Policy",
                         "sandbox; default-src 'none'; img-src data:; font-src data:; "
                         "style-src 'unsafe-inline'");
    headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
    headers.emplace_back("Referrer-Policy", "no-referrer");
    return headers;
}

Headers content_headers(const Artifact& artifact) {
    Headers headers = view_headers(artifact.info.mime, artifact.info.name);
    headers.emplace_back("ETag", entity_tag(artifact));
    // Content never changes under its id. Private: it needed a token.
    headers.emplace_back("Cache-Control", "private, max-age=31536000, immutable");
    headers.emplace_back("Accept-Ranges", "bytes");
    return headers;
}

}  // namespace cellblock::artifacts
