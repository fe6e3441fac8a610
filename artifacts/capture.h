// A display of the kernel (a MIME bundle) taken apart: the fields of an E2B result that go to the
// client inline, and the artifacts that are to be stored.
//
// Pure: no I/O, no state, any thread. The bundle comes from a guest: it was parsed under limits of
// size and depth, everything else is checked here. What cannot be used is dropped with a warning,
// never the whole display. Fuzzed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/artifact.h"
#include "artifacts/table.h"
#include "base/bytes.h"
#include "base/json.h"

namespace cellblock::artifacts {

inline constexpr std::string_view chart_mime = "application/vnd.cellblock.chart+json";

// What becomes of a guest's file whose content is kept: capture's own go, the user's stay.
enum class GuestCopy { goes, stays };

// Content to be put into the store. Either `bytes`, or (when `guest_path` is not empty) a file that
// the caller streams out of the guest.
struct PendingArtifact {
    ArtifactKind kind = ArtifactKind::file;
    std::string mime;
    std::string id;     // given before it is stored, where something refers to it; else empty
    std::string name;   // safe
    std::string field;  // the result field that shows the same: "png", "html", "chart"; or ""
    Bytes bytes;
    std::string guest_path;
    GuestCopy guest_copy = GuestCopy::goes;
    // What a client shows before it fetches: {"width","height"} of a picture, schema and rows of a
    // table, title of a chart. Small; also belongs into the artifact's metadata.
    Json preview = Json::object();

    PendingArtifact() = default;
};

struct Captured {
    // text, html, markdown, svg, png, jpeg, pdf, latex, json, javascript, data, chart where
    // present; `extra` always. The caller adds is_main_result. Null: nothing was shown (a list of
    // changed files is no result).
    Json result_fields = Json::object();
    std::vector<PendingArtifact> artifacts;
    std::optional<Table> table;
    std::string chart_description;  // one paragraph for a reader who cannot see it; may be empty
    std::vector<std::string> warnings;  // what was dropped, and why: for the log
    std::vector<std::string> notices;   // what is not kept, and where it is: for the caller

    Captured() = default;
};

// `number` names the artifacts: "table-3.arrow" for the third display of an execution.
Captured capture(const Json& data, const Json& metadata, std::size_t number);

// One pair of equal outer quotes (' or ") off: E2B's clients expect the text of a string so.
std::string_view strip_quotes(std::string_view text);

}  // namespace cellblock::artifacts
