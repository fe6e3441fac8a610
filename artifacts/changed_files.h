// The files that a cell has made or changed in its working directory, as the guest tells of them:
// {"files": [{"path", "size", "mime", "change": "new" | "changed", "size_before"?}], "more": n}.
//
// Pure. Guest data: what does not fit is refused as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace cellblock::artifacts {

inline constexpr std::string_view files_mime = "application/vnd.cellblock.files+json";

struct ChangedFile {
    std::string path;  // in the guest, absolute
    std::string mime;
    std::uint64_t size_bytes = 0;
    std::optional<std::uint64_t> size_before_bytes;  // absent: it is new

    ChangedFile() = default;
};

struct ChangedFiles {
    std::vector<ChangedFile> files;
    std::uint64_t more = 0;  // that are not named
    bool unseen = false;     // the folder holds too much to be looked through

    ChangedFiles() = default;
};

Result<ChangedFiles> parse_changed_files(const Json& value);

}  // namespace cellblock::artifacts
