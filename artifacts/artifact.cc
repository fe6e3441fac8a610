#include "artifacts/artifact.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "artifacts/text.h"
#include "base/clock.h"
#include "base/limits.h"

namespace cellblock::artifacts {
namespace {

constexpr std::array kind_names = {
    std::pair{ArtifactKind::table, std::string_view("table")},
    std::pair{ArtifactKind::image, std::string_view("image")},
    std::pair{ArtifactKind::chart, std::string_view("chart")},
    std::pair{ArtifactKind::html, std::string_view("html")},
    std::pair{ArtifactKind::text, std::string_view("text")},
    std::pair{ArtifactKind::file, std::string_view("file")},
};

constexpr std::array extensions = {
    std::pair{std::string_view("image/png"), std::string_view(".png")},
    std::pair{std::string_view("image/jpeg"), std::string_view(".jpg")},
    std::pair{std::string_view("image/gif"), std::string_view(".gif")},
    std::pair{std::string_view("image/webp"), std::string_view(".webp")},
    std::pair{std::string_view("image/svg+xml"), std::string_view(".svg")},
    std::pair{std::string_view("application/pdf"), std::string_view(".pdf")},
    std::pair{std::string_view("text/html"), std::string_view(".html")},
    std::pair{std::string_view("text/plain"), std::string_view(".txt")},
    std::pair{std::string_view("text/markdown"), std::string_view(".md")},
    std::pair{std::string_view("text/csv"), std::string_view(".csv")},
    std::pair{std::string_view("application/json"), std::string_view(".json")},
    std::pair{std::string_view("application/vnd.apache.arrow.file"), std::string_view(".arrow")},
    std::pair{std::string_view("application/vnd.cellblock.chart+json"),
              std::string_view(".chart.json")},
    std::pair{std::string_view("application/vnd.cellblock.table+json"),
              std::string_view(".table.json")},
};

// Device names that Windows gives to no file, whatever the extension.
bool is_reserved_on_windows(std::string_view name) {
    std::string stem(name.substr(0, name.find('.')));
    std::transform(stem.begin(), stem.end(), stem.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (stem == "CON" || stem == "PRN" || stem == "AUX" || stem == "NUL") return true;
    return stem.size() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT")) &&
           stem[3] >= '0' && stem[3] <= '9';
}

// Characters that name nothing in a path, a shell glob, a header or a Windows file name.
bool is_awkward(char32_t value) {
    static constexpr std::u32string_view awkward = U"\\/:*?\"<>|%;`$";
    return awkward.find(value) != std::u32string_view::npos;
}

}  // namespace

std::string_view to_string(ArtifactKind kind) {
    for (const auto& [value, name] : kind_names) {
        if (value == kind) return name;
    }
    return "file";
}

std::optional<ArtifactKind> artifact_kind_from(std::string_view name) {
    for (const auto& [value, known] : kind_names) {
        if (known == name) return value;
    }
    return std::nullopt;
}

std::string_view extension_of(std::string_view mime) {
    for (const auto& [known, extension] : extensions) {
        if (known == mime) return extension;
    }
    return "";
}

std::string safe_name(std::string_view name, std::string_view fallback) {
    std::string safe;
    for (std::size_t at = 0; at < name.size() && safe.size() < 4096;) {
        const CodePoint c = code_point_at(name, at);
        at += c.size_bytes;
        if (!c.valid || is_invisible(c.value)) continue;
        const bool leading = safe.empty();
        if (leading && (c.value == '.' || c.value == ' ' || c.value == '-')) continue;
        if (is_control(c.value) || is_awkward(c.value)) {
            if (!leading && safe.back() != '_') safe += '_';
        } else {
            append_utf8(safe, c.value);
        }
    }
    if (safe.size() > limits::artifact_name_max_bytes) {
        const std::size_t dot = safe.rfind('.');
        std::string extension;
        if (dot != std::string::npos && safe.size() - dot <= 12) extension = safe.substr(dot);
        safe = std::string(cut_utf8(safe, limits::artifact_name_max_bytes - extension.size())) +
               extension;
    }
    while (!safe.empty() && (safe.back() == '.' || safe.back() == ' ')) safe.pop_back();
    if (safe.empty()) return std::string(fallback);
    if (is_reserved_on_windows(safe)) safe.insert(0, "_");
    return safe;
}

Json to_json(const Artifact& artifact, std::string_view url_prefix) {
    const auto since_1970 = std::chrono::duration_cast<WallTime::duration>(
        std::chrono::nanoseconds(artifact.created_at_ns));
    Json json = Json::object();
    json["id"] = artifact.id;
    json["kind"] = to_string(artifact.info.kind);
    json["mime"] = artifact.info.mime;
    json["name"] = artifact.info.name;
    json["size"] = artifact.size_bytes;
    json["sha256"] = artifact.sha256;
    json["created_at"] = iso8601(WallTime(since_1970));
    json["pinned"] = artifact.pinned;
    json["execution_id"] = artifact.info.execution_id;
    json["sandbox_id"] = artifact.info.sandbox_id;
    json["url"] = std::string(url_prefix) + artifact.id;
    json["metadata"] = artifact.info.metadata;
    return json;
}

}  // namespace cellblock::artifacts
