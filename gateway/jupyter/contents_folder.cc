#include "gateway/jupyter/contents_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/files.h"
#include "base/ids.h"
#include "base/limits.h"

namespace cellblock::gateway::jupyter {
namespace {

tl::unexpected<Error> no_such(const std::string& path) {
    return fail(ErrorCode::not_found, "No such file or directory: " + path);
}

tl::unexpected<Error> from_errno(const std::string& doing, const std::string& path) {
    // A link, or one on the way: for this API there is nothing there.
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EXDEV) {
        return no_such(path);
    }
    if (errno == EACCES || errno == EPERM) {
        return fail(ErrorCode::forbidden, "Permission denied: " + path);
    }
    return fail(error_from_errno(errno, doing + " " + path));
}

FolderEntry entry_from(std::string path, const struct stat& status, bool writable) {
    FolderEntry entry;
    entry.path = std::move(path);
    entry.kind = S_ISDIR(status.st_mode) ? EntryKind::directory : EntryKind::file;
    entry.size = static_cast<std::uint64_t>(status.st_size);
    entry.modified = WallTime(std::chrono::duration_cast<WallTime::duration>(
        std::chrono::seconds(status.st_mtim.tv_sec) +
        std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
    entry.writable = writable;
    return entry;
}

bool is_served(const struct stat& status) {
    return S_ISDIR(status.st_mode) || S_ISREG(status.st_mode);
}

std::string joined(const std::string& directory, const std::string& name) {
    return directory.empty() ? name : directory + "/" + name;
}

}  // namespace

Result<void> check_contents_path(const std::string& path) {
    if (path.empty()) return {};
    if (path.size() > limits::file_path_max_bytes || path.find('\0') != std::string::npos) {
        return fail(ErrorCode::invalid_argument, "the path is not valid");
    }
    std::string_view rest = path;
    while (true) {
        const std::string_view part = rest.substr(0, rest.find('/'));
        // "." and ".." are hidden too.
        if (part.empty() || part.front() == '.') return no_such(path);
        if (part.size() == rest.size()) return {};
        rest.remove_prefix(part.size() + 1);
    }
}

Result<ContentsFolder> ContentsFolder::open(const std::filesystem::path& root) {
    CB_TRY_ASSIGN(fd, open_file(root, O_RDONLY | O_DIRECTORY));
    return ContentsFolder(std::move(fd));
}

Result<Fd> ContentsFolder::open_beneath(const std::string& path, int flags) const {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const char* const name = path.empty() ? "." : path.c_str();
    const long opened = ::syscall(SYS_openat2, root_.get(), name, &how, sizeof how);
    if (opened < 0) return from_errno("open", path);
    return Fd(static_cast<int>(opened));
}

Result<ContentsFolder::Place> ContentsFolder::place_of(const std::string& path) const {
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash);
    CB_TRY_ASSIGN(directory, open_beneath(parent, O_RDONLY | O_DIRECTORY));
    return Place{std::move(directory), path.substr(slash + 1)};
}

Result<FolderEntry> ContentsFolder::stat(const std::string& path) const {
    CB_TRY_ASSIGN(fd, open_beneath(path, O_PATH));
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) return from_errno("look at", path);
    if (!is_served(status)) return no_such(path);
    const std::string self = "/proc/self/fd/" + std::to_string(fd.get());
    return entry_from(path, status, ::access(self.c_str(), W_OK) == 0);
}

Result<std::vector<FolderEntry>> ContentsFolder::list(const std::string& path) const {
    CB_TRY_ASSIGN(fd, open_beneath(path, O_RDONLY | O_DIRECTORY));
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(fd.get()), ::closedir);
    if (!directory) return from_errno("list", path);
    const int descriptor = fd.release();  // closedir() closes it
    std::vector<FolderEntry> entries;
    while (const dirent* found = ::readdir(directory.get())) {
        const std::string name = found->d_name;
        if (name.front() == '.') continue;
        struct stat status{};
        if (::fstatat(descriptor, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!is_served(status)) continue;
        if (entries.size() >= limits::agent_list_entries_max) {
            return fail(ErrorCode::too_many, "there are too many files in " + path + " to list");
        }
        const bool writable = ::faccessat(descriptor, name.c_str(), W_OK, 0) == 0;
        entries.push_back(entry_from(joined(path, name), status, writable));
    }
    std::sort(entries.begin(), entries.end(),
              [](const FolderEntry& a, const FolderEntry& b) { return a.path < b.path; });
    return entries;
}

Result<std::string> ContentsFolder::read(const std::string& path, std::size_t max_bytes) const {
    // Not blocking on a pipe that somebody put there; only regular files are read.
    CB_TRY_ASSIGN(fd, open_beneath(path, O_RDONLY | O_NONBLOCK));
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) return from_errno("look at", path);
    if (!S_ISREG(status.st_mode)) {
        return fail(ErrorCode::invalid_argument, path + " is not a file");
    }
    std::string text;
    char piece[64 * 1024];
    while (true) {
        const ssize_t got = ::read(fd.get(), piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return from_errno("read", path);
        if (got == 0) return text;
        text.append(piece, static_cast<std::size_t>(got));
        if (text.size() > max_bytes) {
            return fail(ErrorCode::too_large,
                        path + " has more than " + std::to_string(max_bytes) + " bytes");
        }
    }
}

Result<void> ContentsFolder::write(const std::string& path, std::string_view content) const {
    CB_TRY_ASSIGN(place, place_of(path));
    struct stat status{};
    const int at = place.directory.get();
    const bool exists = ::fstatat(at, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
        return fail(ErrorCode::invalid_argument, path + " is not a file");
    }
    const unsigned mode = exists ? status.st_mode & 0777 : 0644;
    const std::string temporary = ".cellblock-" + new_short_id();
    Fd fd(::openat(at, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   mode));
    if (!fd) return from_errno("write", path);
    auto written = write_all(fd.get(), content);
    if (written && ::fsync(fd.get()) != 0) written = from_errno("write", path);
    if (written && ::renameat(at, temporary.c_str(), at, place.name.c_str()) != 0) {
        written = from_errno("write", path);
    }
    if (!written) ::unlinkat(at, temporary.c_str(), 0);
    return written;
}

Result<void> ContentsFolder::make_directory(const std::string& path) const {
    CB_TRY_ASSIGN(place, place_of(path));
    if (::mkdirat(place.directory.get(), place.name.c_str(), 0755) == 0) return {};
    if (errno != EEXIST) return from_errno("make", path);
    CB_TRY_ASSIGN(existing, stat(path));
    if (existing.kind == EntryKind::directory) return {};
    return fail(ErrorCode::invalid_argument, "Not a directory: " + path);
}

Result<void> ContentsFolder::rename(const std::string& from, const std::string& to) const {
    CB_TRY(stat(from));
    CB_TRY_ASSIGN(source, place_of(from));
    CB_TRY_ASSIGN(target, place_of(to));
    const long renamed =
        ::syscall(SYS_renameat2, source.directory.get(), source.name.c_str(),
                  target.directory.get(), target.name.c_str(), 1U /* RENAME_NOREPLACE */);
    if (renamed == 0) return {};
    if (errno == EEXIST) return fail(ErrorCode::conflict, "File already exists: " + to);
    if (errno == EINVAL) {
        return fail(ErrorCode::invalid_argument, "a directory cannot move into itself");
    }
    return from_errno("rename", from);
}

Result<void> ContentsFolder::remove(const std::string& path) const {
    CB_TRY_ASSIGN(entry, stat(path));
    CB_TRY_ASSIGN(place, place_of(path));
    const int flags = entry.kind == EntryKind::directory ? AT_REMOVEDIR : 0;
    if (::unlinkat(place.directory.get(), place.name.c_str(), flags) == 0) return {};
    if (errno == ENOTEMPTY || errno == EEXIST) {
        return fail(ErrorCode::invalid_argument, "Directory " + path + " not empty");
    }
    return from_errno("delete", path);
}

}  // namespace cellblock::gateway::jupyter
