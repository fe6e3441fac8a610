#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace cellblock {

Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode) {
    int fd = -1;
    do {
        fd = ::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode));
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) return fail(error_from_errno(errno, "open " + path.string()));
    return Fd(fd);
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
    CB_TRY_ASSIGN(fd, open_file(path, O_RDONLY));
    std::string text;
    std::array<char, 16384> chunk;
    while (true) {
        const ssize_t n = ::read(fd.get(), chunk.data(), chunk.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(error_from_errno(errno, "read " + path.string()));
        if (n == 0) return text;
        if (text.size() + static_cast<std::size_t>(n) > max_bytes) {
            return fail(ErrorCode::too_large, path.string() + " is larger than the " +
                                                  std::to_string(max_bytes) + " bytes we read");
        }
        text.append(chunk.data(), static_cast<std::size_t>(n));
    }
}

Result<void> write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(error_from_errno(errno, "write"));
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

namespace {

Result<void> write_and_sync(const std::filesystem::path& path, std::string_view text,
                            unsigned mode) {
    CB_TRY_ASSIGN(fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
    if (auto written = write_all(fd.get(), text); !written) {
        return fail(written.error().in(path.string()));
    }
    if (::fsync(fd.get()) != 0) return fail(error_from_errno(errno, "fsync " + path.string()));
    return {};
}

}  // namespace

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text,
                                   unsigned mode) {
    std::filesystem::path temporary = path;
    temporary += ".tmp." + std::to_string(::getpid());
    auto written = write_and_sync(temporary, text, mode);
    if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
        written = fail(error_from_errno(errno, "rename to " + path.string()));
    }
    if (!written) {
        ::unlink(temporary.c_str());
        return written;
    }
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    CB_TRY_ASSIGN(directory, open_file(folder, O_RDONLY | O_DIRECTORY));
    if (::fsync(directory.get()) != 0) {
        return fail(error_from_errno(errno, "fsync " + folder.string()));
    }
    return {};
}

Result<void> make_directories(const std::filesystem::path& path, unsigned mode) {
    std::error_code error;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (::mkdir(path.c_str(), static_cast<mode_t>(mode)) == 0) return {};
    const int failure = errno;
    if (failure == EEXIST && std::filesystem::is_directory(path, error)) return {};
    return fail(error_from_errno(failure, "create the folder " + path.string()));
}

Result<std::uint64_t> free_bytes(const std::filesystem::path& path) {
    struct statvfs status;
    if (::statvfs(path.c_str(), &status) != 0) {
        return fail(error_from_errno(errno, "ask for free space of " + path.string()));
    }
    return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace cellblock
