#include "artifacts/store.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "artifacts/store_core.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/ids.h"

namespace cellblock::artifacts {
namespace {

// How much is written between two looks at the free disk.
constexpr std::uint64_t disk_check_interval_bytes = 8 * limits::MiB;

Result<Fd> lock_folder(const std::filesystem::path& folder) {
    CB_TRY_ASSIGN(fd, open_file(folder / "lock", O_RDWR | O_CREAT, 0600));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return fail(ErrorCode::conflict,
                        "another process uses the artifact store " + folder.string(),
                        "stop it, or choose another state directory");
        }
        return fail(error_from_errno(errno, "lock " + folder.string()));
    }
    return fd;
}

Result<void> check_info(const ArtifactInfo& info) {
    const std::size_t size = dump_ascii(info.metadata).size();
    if (!info.metadata.is_object()) {
        return fail(ErrorCode::invalid_argument, "an artifact's metadata must be an object");
    }
    if (size > limits::artifact_metadata_max_bytes) {
        return fail(ErrorCode::too_large, "an artifact's metadata has " + std::to_string(size) +
                                              " bytes; the limit is " +
                                              std::to_string(limits::artifact_metadata_max_bytes));
    }
    return {};
}

tl::unexpected<Error> no_such(const std::string& id) {
    return fail(ErrorCode::not_found,
                "there is no artifact " + (is_valid_id(id) ? id : std::string("of that id")));
}

}  // namespace

// --- ArtifactWriter ----------------------------------------------------------------------------

ArtifactWriter::ArtifactWriter(std::unique_ptr<detail::WriterState> state)
    : state_(std::move(state)) {}
ArtifactWriter::ArtifactWriter(ArtifactWriter&&) noexcept = default;
ArtifactWriter& ArtifactWriter::operator=(ArtifactWriter&& other) noexcept {
    if (this != &other) {
        abort();
        state_ = std::move(other.state_);
    }
    return *this;
}
ArtifactWriter::~ArtifactWriter() {
    abort();
}

std::uint64_t ArtifactWriter::size_bytes() const {
    return state_ ? state_->size_bytes : 0;
}

void ArtifactWriter::abort() {
    if (!state_) return;
    state_->fd.reset();
    std::error_code ignored;
    std::filesystem::remove(state_->temporary, ignored);
    state_->core->release(state_->info, state_->size_bytes);
    state_.reset();
}

Result<void> ArtifactWriter::append(ByteView bytes) {
    if (!state_) return fail(ErrorCode::conflict, "this artifact is already finished");
    auto& state = *state_;
    if (state.failed) return fail(*state.failed);
    const auto keep = [&state](Error error) {
        state.failed = error;
        return fail(std::move(error));
    };
    const std::uint64_t limit = state.core->quotas.artifact_max_bytes;
    if (state.size_bytes + bytes.size() > limit) {
        return keep(Error(ErrorCode::too_large, "the artifact '" + state.info.name +
                                                    "' is larger than the limit of " +
                                                    std::to_string(limit) + " bytes"));
    }
    state.unchecked_bytes += bytes.size();
    if (state.unchecked_bytes >= disk_check_interval_bytes) {
        state.unchecked_bytes = 0;
        if (auto room = state.core->check_disk(); !room) return keep(std::move(room).error());
    }
    if (auto room = state.core->reserve(state.info, bytes.size()); !room) {
        return keep(std::move(room).error());
    }
    state.size_bytes += bytes.size();
    if (auto written = write_all(state.fd.get(), as_text(bytes)); !written) {
        return keep(written.error().in("storing the artifact '" + state.info.name + "'"));
    }
    state.digest.update(bytes);
    return {};
}

Result<Artifact> ArtifactWriter::finish(Json metadata) {
    if (!state_) return fail(ErrorCode::conflict, "this artifact is already finished");
    ArtifactInfo info = state_->info;
    info.metadata = std::move(metadata);
    return finish(std::move(info));
}

Result<Artifact> ArtifactWriter::finish(ArtifactInfo info) {
    if (!state_) return fail(ErrorCode::conflict, "this artifact is already finished");
    auto& state = *state_;
    if (state.failed) return fail(*state.failed);
    // What was counted against at begin() stays; the rest may have been learnt from the content.
    info.execution_id = state.info.execution_id;
    info.sandbox_id = state.info.sandbox_id;
    info.tenant = state.info.tenant;
    info.name = safe_name(info.name, "artifact");
    CB_TRY(check_info(info));
    if (::fsync(state.fd.get()) != 0) {
        return fail(error_from_errno(errno, "fsync the artifact '" + info.name + "'"));
    }
    state.fd.reset();
    Artifact artifact;
    artifact.id = state.info.id.empty() ? new_short_id() : state.info.id;
    artifact.sha256 = state.digest.finish();
    artifact.size_bytes = state.size_bytes;
    artifact.created_at_ns = wall_clock_ns();
    artifact.info = std::move(info);
    // Ours beyond the state's end: this writer may be the last to hold the core.
    const std::shared_ptr<detail::StoreCore> owner = state.core;
    auto& core = *owner;
    const std::lock_guard lock(core.mutex);
    state.failed = Error(ErrorCode::conflict, "this artifact could not be stored");
    CB_TRY(core.blobs.adopt(state.temporary, artifact.sha256));
    if (auto inserted = core.index->insert(artifact); !inserted) {
        const auto referenced = core.index->references(artifact.sha256);
        // Unknown whether it is referenced: keep the content, clean_up() decides later.
        if (referenced && !*referenced) (void)core.blobs.remove(artifact.sha256);
        return fail(std::move(inserted).error());
    }
    state_.reset();
    return artifact;
}

// --- Store -------------------------------------------------------------------------------------

Store::Store(std::shared_ptr<detail::StoreCore> core) : core_(std::move(core)) {}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& folder, Quotas quotas) {
    CB_TRY_ASSIGN(blobs, Blobs::open(folder));
    CB_TRY_ASSIGN(lock, lock_folder(folder));
    CB_TRY_ASSIGN(index, Index::open(folder / "index.db"));
    return std::unique_ptr<Store>(new Store(std::make_shared<detail::StoreCore>(
        std::move(lock), std::move(blobs), std::move(index), quotas)));
}

Result<ArtifactWriter> Store::begin(ArtifactInfo info) {
    info.name = safe_name(info.name, "artifact");
    CB_TRY(check_info(info));
    CB_TRY(core_->check_disk());
    CB_TRY(core_->admit(info));
    auto state = std::make_unique<detail::WriterState>();
    state->core = core_;
    state->info = std::move(info);
    state->temporary = core_->blobs.new_temporary();
    auto file = open_file(state->temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!file) {
        core_->release(state->info, 0);
        return fail(std::move(file).error());
    }
    state->fd = std::move(*file);
    return ArtifactWriter(std::move(state));
}

Result<Artifact> Store::put(ByteView content, ArtifactInfo info) {
    Json metadata = info.metadata;
    CB_TRY_ASSIGN(writer, begin(std::move(info)));
    CB_TRY(writer.append(content));
    return writer.finish(std::move(metadata));
}

Result<Artifact> Store::get(const std::string& id) {
    if (!is_valid_id(id)) return no_such(id);
    const std::lock_guard lock(core_->mutex);
    CB_TRY_ASSIGN(found, core_->index->find(id));
    if (!found) return no_such(id);
    return std::move(*found);
}

Result<OpenArtifact> Store::open_content(const std::string& id) {
    if (!is_valid_id(id)) return no_such(id);
    const std::lock_guard lock(core_->mutex);
    CB_TRY_ASSIGN(found, core_->index->find(id));
    if (!found) return no_such(id);
    CB_TRY_ASSIGN(fd, core_->blobs.open_blob(found->sha256));
    OpenArtifact open;
    open.artifact = std::move(*found);
    open.fd = std::move(fd);
    return open;
}

Result<std::vector<Artifact>> Store::list(const ListQuery& query) {
    const std::lock_guard lock(core_->mutex);
    return core_->index->list(query);
}

Result<void> Store::set_pinned(const std::string& id, bool pinned) {
    if (!is_valid_id(id)) return no_such(id);
    const std::lock_guard lock(core_->mutex);
    CB_TRY_ASSIGN(known, core_->index->set_pinned(id, pinned));
    if (!known) return no_such(id);
    return {};
}

Result<void> Store::remove(const std::string& id) {
    if (!is_valid_id(id)) return no_such(id);
    const std::lock_guard lock(core_->mutex);
    return core_->erase_locked(id);
}

Result<std::size_t> Store::remove_sandbox(const std::string& sandbox_id) {
    if (sandbox_id.empty()) return fail(ErrorCode::invalid_argument, "no sandbox was named");
    std::size_t removed = 0;
    while (true) {
        const std::lock_guard lock(core_->mutex);
        CB_TRY_ASSIGN(ids, core_->index->ids_of_sandbox(sandbox_id, detail::step_rows));
        if (ids.empty()) return removed;
        for (const std::string& id : ids) {
            CB_TRY(core_->erase_locked(id));
            ++removed;
        }
    }
}

Result<StoreUsage> Store::usage() {
    const std::lock_guard lock(core_->mutex);
    CB_TRY_ASSIGN(totals, core_->index->totals());
    CB_TRY_ASSIGN(contents, core_->index->distinct_contents());
    StoreUsage usage;
    usage.artifacts = totals.count;
    usage.bytes = totals.bytes;
    usage.blobs = contents;
    return usage;
}

Result<std::size_t> read_at(const Fd& fd, std::uint64_t offset, std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t n = ::pread(fd.get(), into.data() + done, into.size() - done,
                                  static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(error_from_errno(errno, "read an artifact"));
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}

}  // namespace cellblock::artifacts
