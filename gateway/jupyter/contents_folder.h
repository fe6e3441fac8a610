// A folder of the host that the contents API serves, and from which no name leads out.
//
// Every path is opened beneath the folder's own descriptor by openat2(2) without following any
// link, so neither "..", nor a link that somebody puts there, nor a race between check and use
// reaches a file outside. Names that begin with a dot are not there. Blocking: for the worker pool.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"

namespace cellblock::gateway::jupyter {

enum class EntryKind { file, directory };

struct FolderEntry {
    std::string path;  // beneath the folder, with "/" between; the folder itself is ""
    EntryKind kind = EntryKind::file;
    std::uint64_t size = 0;
    WallTime modified;
    bool writable = false;

    FolderEntry() = default;
    std::string name() const { return path.substr(path.rfind('/') + 1); }
};

class ContentsFolder {
  public:
    static Result<ContentsFolder> open(const std::filesystem::path& root);

    Result<FolderEntry> stat(const std::string& path) const;
    // Sorted by name. too_many past limits::agent_list_entries_max.
    Result<std::vector<FolderEntry>> list(const std::string& path) const;
    Result<std::string> read(const std::string& path, std::size_t max_bytes) const;
    // The old content or the new one, never a mixture.
    Result<void> write(const std::string& path, std::string_view content) const;
    // Existing directories are fine.
    Result<void> make_directory(const std::string& path) const;
    // conflict when the new name is taken.
    Result<void> rename(const std::string& from, const std::string& to) const;
    // invalid_argument for a directory that is not empty.
    Result<void> remove(const std::string& path) const;

  private:
    explicit ContentsFolder(Fd root) : root_(std::move(root)) {}

    Result<Fd> open_beneath(const std::string& path, int flags) const;
    // Of a path's last name, which is not "" then.
    struct Place {
        Fd directory;
        std::string name;
    };
    Result<Place> place_of(const std::string& path) const;

    Fd root_;
};

// No empty, hidden, "." or ".." part; at most 4096 bytes. "" is the folder itself.
Result<void> check_contents_path(const std::string& path);

}  // namespace cellblock::gateway::jupyter
