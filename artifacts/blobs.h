// The content files of the artifact store: where each lives, and the crash-safe moves between them.
//
// Stateless besides the folder. Callers serialise adopt() and remove() of one content.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace cellblock::artifacts {

class Blobs {
  public:
    // Makes `folder` and `folder`/tmp.
    static Result<Blobs> open(const std::filesystem::path& folder);

    const std::filesystem::path& folder() const { return folder_; }
    // A new file in tmp, named by this process' run so that clean-up knows its own files.
    std::filesystem::path new_temporary() const;

    // Gives the finished, fsynced file its final name, or drops it when that content is there.
    // Durable when it returns.
    Result<void> adopt(const std::filesystem::path& temporary, const std::string& sha256) const;
    Result<Fd> open_blob(const std::string& sha256) const;
    bool exists(const std::string& sha256) const;
    Result<void> remove(const std::string& sha256) const;

    // Files in tmp that an earlier run left; how many were removed.
    std::size_t remove_stale_temporaries() const;
    // Calls `visit` with the SHA-256 that each content file's name says.
    void for_each(const std::function<void(const std::string& sha256)>& visit) const;

  private:
    explicit Blobs(std::filesystem::path folder);
    std::filesystem::path path_of(const std::string& sha256) const;

    std::filesystem::path folder_;
    std::string run_;
};

}  // namespace cellblock::artifacts
