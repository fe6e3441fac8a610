// The shared inside of Store and ArtifactWriter. Not for other folders.
//
// Two mutexes: `mutex` serialises the index and the moves of content files, `accounts_mutex` the
// sums that quotas look at. When both are held, `mutex` was taken first.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "artifacts/blobs.h"
#include "artifacts/index.h"
#include "artifacts/store.h"
#include "base/digest.h"

namespace cellblock::artifacts::detail {

// Rows handled under one hold of the mutex.
inline constexpr std::size_t step_rows = 100;

class StoreCore {
  public:
    StoreCore(Fd lock, Blobs blobs, std::unique_ptr<Index> index, Quotas quotas)
        : quotas(quotas),
          blobs(std::move(blobs)),
          index(std::move(index)),
          lock_(std::move(lock)) {}

    // Counts a new artifact against its execution and tenant, refused past their quotas.
    Result<void> admit(const ArtifactInfo& info);
    // Counts `bytes` more of an admitted artifact.
    Result<void> reserve(const ArtifactInfo& info, std::uint64_t bytes);
    // Takes an admitted artifact out of the sums again: it was dropped or removed.
    void release(const ArtifactInfo& info, std::uint64_t bytes);
    Result<void> check_disk() const;

    // Precondition: `mutex` is held by the caller. Row first, then the content when unreferenced.
    Result<void> erase_locked(const std::string& id);

    const Quotas quotas;
    const Blobs blobs;
    std::mutex mutex;
    const std::unique_ptr<Index> index;

  private:
    Result<void> load_locked(const ArtifactInfo& info);

    std::mutex accounts_mutex_;
    std::map<std::string, Totals> tenants_;
    // Only executions with a writer under way, or lately; cut back when it grows.
    std::map<std::string, Totals> executions_;
    Fd lock_;
};

struct WriterState {
    std::shared_ptr<StoreCore> core;
    ArtifactInfo info;
    std::filesystem::path temporary;
    Fd fd;
    Sha256 digest;
    std::uint64_t size_bytes = 0;
    std::uint64_t unchecked_bytes = 0;  // written since the free disk was last looked at
    std::optional<Error> failed;

    WriterState() = default;
};

}  // namespace cellblock::artifacts::detail
