#include "artifacts/table_file.h"

#include <memory>

namespace cellblock::artifacts {

Result<arrow::ArrowFile> open_table(OpenArtifact opened) {
    const Artifact& artifact = opened.artifact;
    if (artifact.info.kind != ArtifactKind::table) {
        return fail(ErrorCode::invalid_argument, "artifact \"" + artifact.id + "\" is no table",
                    "GET /artifacts/" + artifact.id + " has its content");
    }
    if (artifact.info.mime != arrow_mime) {
        return fail(ErrorCode::not_supported,
                    "this table was stored as " + artifact.info.mime + ", which has no pages",
                    "GET /artifacts/" + artifact.id +
                        " has its content; tables of a sandbox with "
                        "pyarrow are stored as Arrow");
    }
    const std::uint64_t size = artifact.size_bytes;
    auto fd = std::make_shared<const Fd>(std::move(opened.fd));
    auto read = [fd](std::uint64_t offset, std::span<std::byte> into) -> Result<void> {
        CB_TRY_ASSIGN(count, read_at(*fd, offset, into));
        if (count != into.size())
            return fail(ErrorCode::io, "a stored table is shorter than it was");
        return {};
    };
    return arrow::ArrowFile::open(std::move(read), size);
}

}  // namespace cellblock::artifacts
