// A stored table opened for reading: its Arrow file over the store's descriptor.
#pragma once

#include "artifacts/arrow/file.h"
#include "artifacts/store.h"

namespace cellblock::artifacts {

inline constexpr std::string_view arrow_mime = "application/vnd.apache.arrow.file";

// invalid_argument for what is no table; not_supported for a table stored as CSV or without data.
// The file keeps the descriptor.
Result<arrow::ArrowFile> open_table(OpenArtifact opened);

}  // namespace cellblock::artifacts
