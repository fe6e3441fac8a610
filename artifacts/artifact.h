// What an artifact is: a named piece of content that an execution produced, and what is known of
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace cellblock::artifacts {

enum class ArtifactKind { table, image, chart, html, text, file };

std::string_view to_string(ArtifactKind kind);
std::optional<ArtifactKind> artifact_kind_from(std::string_view name);

// What whoever stores an artifact says about it. `name` is made safe by the store.
struct ArtifactInfo {
    std::string id;  // named before it is stored (new_short_id()); empty: the store names it
    ArtifactKind kind = ArtifactKind::file;
    std::string mime = "application/octet-stream";
    std::string name;
    std::string execution_id;
    std::string sandbox_id;
    std::string tenant;
    Json metadata = Json::object();

    ArtifactInfo() = default;
};

// What the store knows of one artifact. `sha256` (64 hex digits) names the content: equal content
// is kept once, however many artifacts point to it.
struct Artifact {
    std::string id;
    std::string sha256;
    std::uint64_t size_bytes = 0;
    std::int64_t created_at_ns = 0;  // wall clock, since 1970
    bool pinned = false;             // gc() leaves it alone
    ArtifactInfo info;

    Artifact() = default;
};

// Where clients find artifacts; a `url_prefix` may be an absolute form of it.
inline constexpr std::string_view artifact_url_prefix = "/artifacts/";

// The artifact as clients see it: {"id","kind","mime","name","size","sha256","created_at",
// "execution_id","sandbox_id","url","metadata"}.
Json to_json(const Artifact& artifact, std::string_view url_prefix = artifact_url_prefix);

// A name that is harmless as a file name anywhere: one path component, no control, bidirectional
// or invalid characters, none that Windows or a shell treats specially, no leading dot, at most
// artifact_name_max_bytes of valid UTF-8, the extension kept. `fallback` when nothing is left.
std::string safe_name(std::string_view name, std::string_view fallback);

// The usual extension of a MIME type with its dot (".png"), or "" when none is known.
std::string_view extension_of(std::string_view mime);

}  // namespace cellblock::artifacts
