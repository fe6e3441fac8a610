// Store: what leaves it by itself. Retention by age and size, and what a crash left behind.
#include <algorithm>
#include <string>
#include <vector>

#include "artifacts/store.h"
#include "artifacts/store_core.h"
#include "base/clock.h"

namespace cellblock::artifacts {
namespace {

// The moment `age` before now; everything is younger when that lies before 1970. To the nanosecond:
// rounded to seconds, an age of 0 would spare what was stored within the running second.
std::int64_t moment_before(std::chrono::seconds age) {
    const std::chrono::nanoseconds now(wall_clock_ns());
    if (age >= std::chrono::floor<std::chrono::seconds>(now))
        return 0;  // seconds::max() has no nanoseconds
    return (now - age).count();
}

}  // namespace

Result<std::size_t> Store::gc(const GcPolicy& policy) {
    std::size_t removed = 0;
    const std::int64_t too_old_ns = moment_before(policy.max_age);
    while (true) {
        const std::lock_guard lock(core_->mutex);
        CB_TRY_ASSIGN(ids, core_->index->oldest_unpinned(too_old_ns, detail::step_rows));
        for (const std::string& id : ids) {
            CB_TRY(core_->erase_locked(id));
            ++removed;
        }
        if (ids.size() < detail::step_rows) break;
    }
    while (true) {
        const std::lock_guard lock(core_->mutex);
        CB_TRY_ASSIGN(totals, core_->index->totals());
        if (totals.bytes <= policy.max_total_bytes) return removed;
        CB_TRY_ASSIGN(ids, core_->index->oldest_unpinned(INT64_MAX, detail::step_rows));
        if (ids.empty()) return removed;
        for (const std::string& id : ids) {
            CB_TRY_ASSIGN(artifact, core_->index->find(id));
            CB_TRY(core_->erase_locked(id));
            ++removed;
            if (artifact) totals.bytes -= std::min(totals.bytes, artifact->size_bytes);
            if (totals.bytes <= policy.max_total_bytes) return removed;
        }
    }
}

Result<CleanUpReport> Store::clean_up() {
    CleanUpReport report;
    report.temporary_files = core_->blobs.remove_stale_temporaries();
    std::optional<Error> failed;
    core_->blobs.for_each([this, &report, &failed](const std::string& sha256) {
        if (failed) return;
        // One hold per file: a writer between rename and row holds the same mutex.
        const std::lock_guard lock(core_->mutex);
        auto referenced = core_->index->references(sha256);
        if (!referenced) {
            failed = std::move(referenced).error();
        } else if (!*referenced && core_->blobs.remove(sha256)) {
            ++report.unindexed_blobs;
        }
    });
    if (failed) return fail(std::move(*failed));
    std::string last;
    while (true) {
        const std::lock_guard lock(core_->mutex);
        CB_TRY_ASSIGN(rows, core_->index->contents_after(last, detail::step_rows));
        for (const auto& [id, sha256] : rows) {
            if (core_->blobs.exists(sha256)) continue;
            CB_TRY(core_->erase_locked(id));
            ++report.rows_without_blob;
        }
        if (rows.size() < detail::step_rows) return report;
        last = rows.back().first;
    }
}

}  // namespace cellblock::artifacts
