// Whole-file reads and crash-safe writes, containment-checked paths. Blocking: not for the loop
// thread except at start-up and for small files in a run folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

namespace cellblock {

// open(2) with O_CLOEXEC. `flags` and `mode` as there.
Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0644);

// The whole file, refused (too_large) past `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

// All of `text` to `fd`, over short writes and EINTR.
Result<void> write_all(int fd, std::string_view text);

// Old content or new content, never a mixture and never neither: written beside the target,
// fsynced, renamed over it, and the folder fsynced.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text,
                                   unsigned mode = 0644);

// mkdir -p with `mode` for the last component.
Result<void> make_directories(const std::filesystem::path& path, unsigned mode = 0755);

// Free bytes for an unprivileged writer on the file system of `path`.
Result<std::uint64_t> free_bytes(const std::filesystem::path& path);

}  // namespace cellblock
