#include "vm/agent/user_files.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/files.h"
#include "base/ids.h"
#include "base/limits.h"

namespace cellblock::vm::agent {
namespace {

namespace fs = std::filesystem;

// disk_full and too_many are for the user here: say what helps in a sandbox.
Error explain(int error_number, const std::string& doing) {
    Error error = error_from_errno(error_number, doing);
    if (error.code == ErrorCode::disk_full) {
        error.advice = "the sandbox's disk is full: remove files in it";
    } else if (error_number == EACCES || error_number == EPERM) {
        error.code = ErrorCode::forbidden;
        error.advice = "the sandbox's user may not do this; in a cell, sudo can";
    } else if (error_number == ENOTDIR || error_number == EISDIR || error_number == ELOOP ||
               error_number == ENAMETOOLONG || error_number == EINVAL) {
        error.code = ErrorCode::invalid_argument;
    } else if (error_number == EEXIST || error_number == ENOTEMPTY) {
        error.code = ErrorCode::conflict;
    }
    return error;
}

const char* type_name(mode_t mode) {
    if (S_ISREG(mode)) return "file";
    if (S_ISDIR(mode)) return "directory";
    if (S_ISLNK(mode)) return "symlink";
    return "other";
}

Json describe(const fs::path& path, const struct stat& info) {
    Json json = {{"path", path.string()},
                 {"name", path.filename().string()},
                 {"type", type_name(info.st_mode)},
                 {"size", info.st_size},
                 {"mode", info.st_mode & 07777},
                 {"uid", info.st_uid},
                 {"gid", info.st_gid},
                 {"mtime_ns", info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec},
                 {"is_dir", S_ISDIR(info.st_mode)}};
    if (S_ISLNK(info.st_mode)) {
        std::error_code ignored;
        json["target"] = fs::read_symlink(path, ignored).string();
    }
    return json;
}

Result<void> make_parents(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
        return fail(explain(error.value(), "make the folder " + path.parent_path().string()));
    return {};
}

// What one reply may hold.
struct Listing {
    Json entries = Json::array();
    std::size_t path_bytes = 0;
    bool full() const {
        return entries.size() >= limits::agent_list_entries_max ||
               path_bytes >= limits::agent_list_paths_max_bytes;
    }
};

// One folder's entries, deeper ones while `depth` lasts, until the listing is full.
Result<void> list_into(Listing& listing, const fs::path& folder, std::int64_t depth) {
    std::error_code error;
    std::vector<fs::path> paths;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (listing.entries.size() + paths.size() > limits::agent_list_entries_max) break;
        paths.push_back(it->path());
    }
    if (error) return fail(explain(error.value(), "list " + folder.string()));
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
        if (listing.full()) return {};
        struct stat info{};
        if (::lstat(path.c_str(), &info) != 0) continue;  // removed meanwhile
        listing.entries.push_back(describe(path, info));
        listing.path_bytes += path.native().size() + path.filename().native().size();
        // A folder that may not be read is just listed.
        if (S_ISDIR(info.st_mode) && depth > 1) (void)list_into(listing, path, depth - 1);
    }
    return {};
}

}  // namespace

Result<fs::path> resolve_user_path(const std::string& path, const std::string& home) {
    if (path.empty()) return fail(ErrorCode::invalid_argument, "the path is empty");
    if (path.size() >= PATH_MAX) return fail(ErrorCode::invalid_argument, "the path is too long");
    if (path.find('\0') != std::string::npos) {
        return fail(ErrorCode::invalid_argument, "the path has a NUL character");
    }
    if (path == "~" || path.starts_with("~/")) return fs::path(home + path.substr(1));
    const fs::path full = fs::path(home) / path;  // an absolute path stands for itself
    // "." and doubled slashes go; "a/.." stays, since a may be a link.
    const bool climbs = std::find(full.begin(), full.end(), "..") != full.end();
    return climbs ? full : full.lexically_normal();
}

Result<Json> stat_user_file(UserIdentity user, const fs::path& path) {
    const AsUser as_user(user);
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) return fail(explain(errno, "find " + path.string()));
    return describe(path, info);
}

Result<void> check_user_can_enter(UserIdentity user, const fs::path& path) {
    const AsUser as_user(user);
    // Looking up "." asks for the right to search the folder itself, as chdir(2) does.
    const Fd inside(::open((path / ".").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (inside) return {};
    const std::string reason = std::generic_category().message(errno);
    return fail(ErrorCode::invalid_argument,
                "the working directory " + path.string() + " cannot be entered: " + reason,
                "create it first, or leave `cwd` out");
}

Result<Json> list_user_folder(UserIdentity user, const fs::path& path, std::int64_t depth) {
    const AsUser as_user(user);
    Listing listing;
    CB_TRY(list_into(listing, path, depth));
    Json reply = Json::object();
    reply["truncated"] = listing.full();
    reply["entries"] = std::move(listing.entries);
    return reply;
}

Result<Json> make_user_folder(UserIdentity user, const fs::path& path) {
    const AsUser as_user(user);
    std::error_code error;
    const bool created = fs::create_directories(path, error);
    if (error) return fail(explain(error.value(), "make the folder " + path.string()));
    if (!created && !fs::is_directory(path, error)) {
        return fail(ErrorCode::conflict, path.string() + " is there and is no folder");
    }
    Json made = Json::object();
    made["created"] = created;
    return made;
}

Result<void> remove_user_file(UserIdentity user, const fs::path& path) {
    const AsUser as_user(user);
    std::error_code error;
    const auto removed = fs::remove_all(path, error);
    if (error) return fail(explain(error.value(), "remove " + path.string()));
    if (removed == 0) return fail(explain(ENOENT, "remove " + path.string()));
    return {};
}

Result<void> move_user_file(UserIdentity user, const fs::path& from, const fs::path& to) {
    const AsUser as_user(user);
    CB_TRY(make_parents(to));
    std::error_code error;
    fs::rename(from, to, error);
    if (error == std::errc::cross_device_link) {
        error.clear();
        fs::copy(from, to,
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing |
                     fs::copy_options::copy_symlinks,
                 error);
        if (!error) fs::remove_all(from, error);
    }
    if (error) {
        return fail(explain(error.value(), "move " + from.string() + " to " + to.string()));
    }
    return {};
}

Result<OpenedFile> open_user_file(UserIdentity user, const fs::path& path) {
    const AsUser as_user(user);
    OpenedFile opened;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fail(explain(errno, "open " + path.string()));
    opened.fd = Fd(fd);
    struct stat info{};
    if (::fstat(fd, &info) != 0) return fail(explain(errno, "look at " + path.string()));
    // A directory opens too, as its stat alone: the reader then knows to list it.
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
        return fail(ErrorCode::invalid_argument,
                    path.string() + " is a " + type_name(info.st_mode) + ", not a file");
    }
    opened.stat = describe(path, info);
    return opened;
}

Result<NewUserFile> NewUserFile::create(UserIdentity user, fs::path path, unsigned mode,
                                        bool create_parents) {
    const AsUser as_user(user);
    NewUserFile file;
    file.user_ = user;
    std::error_code error;
    // Through a link to what it names, as open() would; a new file keeps its own name.
    const fs::path real = fs::canonical(path, error);
    file.target_ = error ? std::move(path) : real;
    struct stat old{};
    const bool replaces = ::stat(file.target_.c_str(), &old) == 0;
    if (replaces && !S_ISREG(old.st_mode)) {
        return fail(ErrorCode::conflict,
                    file.target_.string() + " is a " + type_name(old.st_mode) + ", not a file");
    }
    if (file.target_.filename().empty()) {
        return fail(ErrorCode::invalid_argument, file.target_.string() + " names a folder");
    }
    if (create_parents) {
        CB_TRY(make_parents(file.target_));
    }
    if (mode == 0) mode = replaces ? old.st_mode & 0777 : 0644;
    file.temporary_ = file.target_.parent_path() / (".cellblock-" + new_short_id() + ".part");
    const int fd = ::open(file.temporary_.c_str(),
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
    if (fd < 0) {
        const int reason = errno;
        file.temporary_.clear();
        return fail(explain(reason, "write to " + file.target_.parent_path().string()));
    }
    file.fd_ = Fd(fd);
    (void)::fchmod(fd, mode & 0777);
    return file;
}

Result<void> NewUserFile::write(ByteView data) {
    const auto written = write_all(fd_.get(), as_text(data));
    if (!written) {
        Error error = written.error().in("writing " + target_.string());
        if (error.code == ErrorCode::disk_full) {
            error.advice = "the sandbox's disk is full: remove files in it";
        }
        return fail(std::move(error));
    }
    size_ += data.size();
    // A large file must not also fill the page cache: in a clone each page is memory of the host's.
    if (size_ - flushed_ >= limits::agent_file_flush_bytes) {
        (void)::fdatasync(fd_.get());
        (void)::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
        flushed_ = size_;
    }
    return {};
}

Result<void> NewUserFile::commit() {
    const AsUser as_user(user_);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
        return fail(explain(errno, "put " + target_.string() + " in place"));
    }
    temporary_.clear();
    fd_.reset();
    return {};
}

NewUserFile::~NewUserFile() {
    if (!fd_ || temporary_.empty()) return;
    const AsUser as_user(user_);
    (void)::unlink(temporary_.c_str());
}

}  // namespace cellblock::vm::agent
