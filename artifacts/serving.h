// How an artifact is served over HTTP: the headers that make a guest's content harmless in the
// browser of whoever opens it. The gateway adds ranges, dates and status.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "artifacts/artifact.h"

namespace cellblock::artifacts {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Content-Type, Content-Disposition, X-Content-Type-Options, Content-Security-Policy,
// Cross-Origin-Resource-Policy, Referrer-Policy, ETag, Cache-Control, Accept-Ranges.
Headers content_headers(const Artifact& artifact);

// The same for what is made from an artifact (a chart as SVG, a page of a table): without ETag and
// caching, because another version of the gateway may make it better.
Headers view_headers(std::string_view mime, std::string_view name);

// attachment or inline with the name in both forms of RFC 6266: an ASCII filename for old clients,
// filename* (RFC 8187) when the name has more.
std::string content_disposition(std::string_view name, bool is_inline);

// The strong entity tag of content: its SHA-256 in quotes.
std::string entity_tag(const Artifact& artifact);

// Whether an If-None-Match (or If-Match) header names this tag; "*" names every tag. Weak tags
// compare as If-None-Match wants (RFC 9110 section 8.8.3.2).
bool matches_entity_tag(std::string_view header, std::string_view tag);

// The type to serve: the stored one when it is a plain "type/subtype", with the charset that text
// needs; else application/octet-stream.
std::string served_type(std::string_view mime);

}  // namespace cellblock::artifacts
