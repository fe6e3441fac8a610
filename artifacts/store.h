// The artifact store: content-addressed files and a SQLite index, in one folder.
//
//   <folder>/ab/cdef...   content, named by its SHA-256 (2 + 62 hex digits), never changed in place
//   <folder>/tmp/         content being written; <folder>/index.db  the index (WAL)
//   <folder>/lock         held (flock) by the one process that owns the folder
//
// Order of writes: content to tmp, fsync, rename, fsync of the folder, then the row (synchronous).
// So a row always has its content; a crash can only leave content without a row, or a file in tmp,
// and clean_up() removes both. Deletion goes the other way round: the row first.
//
// Thread-agnostic: every call blocks on disk, so call from worker threads; a mutex inside
// serialises the index, hashing and file data run outside it. Writers and readers may outlive the
// Store object.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "artifacts/artifact.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"

namespace cellblock::artifacts {

struct Quotas {
    std::uint64_t artifact_max_bytes = limits::artifact_max_bytes;
    std::uint64_t per_execution_max = limits::artifacts_per_execution_max;
    std::uint64_t bytes_per_execution_max = limits::artifact_bytes_per_execution_max;
    std::uint64_t per_tenant_max = limits::artifacts_per_tenant_max;
    std::uint64_t bytes_per_tenant_max = limits::artifact_bytes_per_tenant_max;
    std::uint64_t disk_reserve_bytes = limits::artifact_disk_reserve_bytes;

    Quotas() = default;
};

// Which artifacts to list: empty fields match all. Newest first.
struct ListQuery {
    std::string execution_id;
    std::string sandbox_id;
    std::string tenant;
    std::size_t limit = limits::artifact_list_max;
    std::size_t offset = 0;

    ListQuery() = default;
};

// What gc() may remove; pinned artifacts always stay.
struct GcPolicy {
    std::chrono::seconds max_age = std::chrono::seconds::max();
    std::uint64_t max_total_bytes = UINT64_MAX;  // the oldest go until the sum fits

    GcPolicy() = default;
};

struct CleanUpReport {
    std::size_t temporary_files = 0;    // removed: left by a crash while writing
    std::size_t unindexed_blobs = 0;    // removed: left by a crash between rename and row
    std::size_t rows_without_blob = 0;  // removed: somebody deleted content behind our back
};

struct StoreUsage {
    std::uint64_t artifacts = 0;
    std::uint64_t bytes = 0;  // sum over artifacts; equal content is counted each time
    std::uint64_t blobs = 0;  // different contents
};

struct OpenArtifact {
    Artifact artifact;
    Fd fd;  // read-only; stays readable when the artifact is removed meanwhile

    OpenArtifact() = default;
};

namespace detail {
class StoreCore;
struct WriterState;
}  // namespace detail

// One artifact being written. One thread at a time. Dropped without finish(): nothing is kept.
class ArtifactWriter {
  public:
    ArtifactWriter(ArtifactWriter&&) noexcept;
    ArtifactWriter& operator=(ArtifactWriter&&) noexcept;
    ~ArtifactWriter();

    // too_large past a quota, disk_full when the disk (less its reserve) is full. After an error
    // the writer takes nothing more and finish() repeats the error.
    Result<void> append(ByteView bytes);
    std::uint64_t size_bytes() const;
    // Makes the content durable and gives it an id.
    Result<Artifact> finish(Json metadata = Json::object());
    // As finish(), with kind, MIME type or name learnt only from the content.
    Result<Artifact> finish(ArtifactInfo info);
    void abort();

  private:
    friend class Store;
    explicit ArtifactWriter(std::unique_ptr<detail::WriterState> state);
    std::unique_ptr<detail::WriterState> state_;
};

class Store {
  public:
    // Makes the folder when missing. conflict when another process owns it, not_supported when
    // a newer version wrote it.
    static Result<std::unique_ptr<Store>> open(const std::filesystem::path& folder,
                                               Quotas quotas = {});
    ~Store();

    // The info's execution and tenant decide which quotas count; both stay fixed to finish().
    Result<ArtifactWriter> begin(ArtifactInfo info);
    // begin, append, finish.
    Result<Artifact> put(ByteView content, ArtifactInfo info);

    Result<Artifact> get(const std::string& id);
    Result<OpenArtifact> open_content(const std::string& id);
    Result<std::vector<Artifact>> list(const ListQuery& query);

    Result<void> set_pinned(const std::string& id, bool pinned);
    // The content goes too unless another artifact has the same.
    Result<void> remove(const std::string& id);
    // All artifacts of a sandbox; how many.
    Result<std::size_t> remove_sandbox(const std::string& sandbox_id);
    // How many were removed. Works in steps, so that other calls get their turn.
    Result<std::size_t> gc(const GcPolicy& policy);
    // Removes what a crash left. Once after open(), in the background; safe beside other calls.
    Result<CleanUpReport> clean_up();
    Result<StoreUsage> usage();

  private:
    explicit Store(std::shared_ptr<detail::StoreCore> core);
    std::shared_ptr<detail::StoreCore> core_;
};

// Fills `into` from `offset` as far as the file goes; the count read.
Result<std::size_t> read_at(const Fd& fd, std::uint64_t offset, std::span<std::byte> into);

}  // namespace cellblock::artifacts
