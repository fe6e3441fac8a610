// Files of the sandbox's user, as the user: every function blocks and belongs on a worker thread.
//
// Paths are the tenant's own and are resolved in the guest, relative ones from the user's home.
// Errors name the path and say what is in the way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "vm/agent/as_user.h"

namespace cellblock::vm::agent {

// invalid_argument for an empty path, one with a NUL, or one over PATH_MAX.
Result<std::filesystem::path> resolve_user_path(const std::string& path, const std::string& home);

// {"path","name","type":"file|directory|symlink|other","size","mode","mtime_ns","is_dir","target"?}
Result<Json> stat_user_file(UserIdentity user, const std::filesystem::path& path);
// For a process's working directory. invalid_argument unless the user can enter it.
Result<void> check_user_can_enter(UserIdentity user, const std::filesystem::path& path);
// {"entries":[as stat_user_file], "truncated":bool}, sorted by path, `depth` levels down.
Result<Json> list_user_folder(UserIdentity user, const std::filesystem::path& path,
                              std::int64_t depth);
// Missing parents are made. {"created":bool}: false when it was there.
Result<Json> make_user_folder(UserIdentity user, const std::filesystem::path& path);
// A folder goes with all that is in it. not_found when there is nothing.
Result<void> remove_user_file(UserIdentity user, const std::filesystem::path& path);
// The target's missing parents are made; a file in its place is replaced.
Result<void> move_user_file(UserIdentity user, const std::filesystem::path& from,
                            const std::filesystem::path& to);

struct OpenedFile {
    Fd fd;
    Json stat;

    OpenedFile() = default;
};
// Regular files only: a FIFO or a device would block or never end.
Result<OpenedFile> open_user_file(UserIdentity user, const std::filesystem::path& path);

// A file that appears under its name when it is complete. Dropped without commit(), it leaves
// nothing behind.
class NewUserFile {
  public:
    // `mode` 0: as the file that it replaces, or 0644.
    static Result<NewUserFile> create(UserIdentity user, std::filesystem::path path, unsigned mode,
                                      bool create_parents);
    NewUserFile(NewUserFile&&) noexcept = default;
    NewUserFile& operator=(NewUserFile&&) noexcept = default;
    ~NewUserFile();

    Result<void> write(ByteView data);
    Result<void> commit();
    std::uint64_t size() const { return size_; }

  private:
    NewUserFile() = default;

    UserIdentity user_;
    std::filesystem::path target_;
    std::filesystem::path temporary_;
    Fd fd_;
    std::uint64_t size_ = 0;
    std::uint64_t flushed_ = 0;
};

}  // namespace cellblock::vm::agent
