#include "artifacts/blobs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/ids.h"
#include "base/log.h"

namespace cellblock::artifacts {
namespace {

constexpr std::size_t sha256_digits = 64;
constexpr std::size_t shard_digits = 2;

bool all_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<void> sync_folder(const std::filesystem::path& folder) {
    CB_TRY_ASSIGN(fd, open_file(folder, O_RDONLY | O_DIRECTORY));
    if (::fsync(fd.get()) != 0) return fail(error_from_errno(errno, "fsync " + folder.string()));
    return {};
}

}  // namespace

Blobs::Blobs(std::filesystem::path folder) : folder_(std::move(folder)), run_(new_short_id()) {}

Result<Blobs> Blobs::open(const std::filesystem::path& folder) {
    CB_TRY(make_directories(folder, 0700));
    CB_TRY(make_directories(folder / "tmp", 0700));
    CB_TRY(sync_folder(folder));
    return Blobs(folder);
}

std::filesystem::path Blobs::new_temporary() const {
    return folder_ / "tmp" / (run_ + "-" + new_short_id());
}

std::filesystem::path Blobs::path_of(const std::string& sha256) const {
    return folder_ / sha256.substr(0, shard_digits) / sha256.substr(shard_digits);
}

Result<void> Blobs::adopt(const std::filesystem::path& temporary, const std::string& sha256) const {
    if (exists(sha256)) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        return {};
    }
    const std::filesystem::path target = path_of(sha256);
    if (::mkdir(target.parent_path().c_str(), 0700) == 0) {
        CB_TRY(sync_folder(folder_));
    } else if (errno != EEXIST) {
        return fail(error_from_errno(errno, "create the folder " + target.parent_path().string()));
    }
    if (::rename(temporary.c_str(), target.c_str()) != 0) {
        return fail(error_from_errno(errno, "rename an artifact to " + target.string()));
    }
    return sync_folder(target.parent_path());
}

Result<Fd> Blobs::open_blob(const std::string& sha256) const {
    return open_file(path_of(sha256), O_RDONLY | O_NOFOLLOW);
}

bool Blobs::exists(const std::string& sha256) const {
    return ::access(path_of(sha256).c_str(), F_OK) == 0;
}

Result<void> Blobs::remove(const std::string& sha256) const {
    if (::unlink(path_of(sha256).c_str()) != 0 && errno != ENOENT) {
        return fail(error_from_errno(errno, "remove " + path_of(sha256).string()));
    }
    return {};
}

std::size_t Blobs::remove_stale_temporaries() const {
    std::size_t removed = 0;
    std::error_code error;
    std::vector<std::filesystem::path> stale;
    for (std::filesystem::directory_iterator at(folder_ / "tmp", error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (name.rfind(run_ + "-", 0) != 0) stale.push_back(at->path());
    }
    for (const auto& path : stale) {
        if (std::filesystem::remove(path, error)) ++removed;
    }
    return removed;
}

void Blobs::for_each(const std::function<void(const std::string&)>& visit) const {
    std::error_code error;
    for (std::filesystem::directory_iterator shard(folder_, error), end; !error && shard != end;
         shard.increment(error)) {
        const std::string prefix = shard->path().filename().string();
        std::error_code inner;
        if (prefix.size() != shard_digits || !all_hex(prefix) || !shard->is_directory(inner)) {
            continue;
        }
        for (std::filesystem::directory_iterator at(shard->path(), inner); !inner && at != end;
             at.increment(inner)) {
            const std::string sha256 = prefix + at->path().filename().string();
            if (sha256.size() == sha256_digits && all_hex(sha256)) visit(sha256);
        }
    }
}

}  // namespace cellblock::artifacts
