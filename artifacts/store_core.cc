#include "artifacts/store_core.h"

#include <algorithm>

#include "base/files.h"

namespace cellblock::artifacts::detail {
namespace {

constexpr std::size_t remembered_executions_max = 256;

// "execution" or "tenant", with the sum that it has and the one that it may have.
tl::unexpected<Error> over_bytes(std::string_view whose, std::uint64_t limit) {
    return fail(ErrorCode::too_large,
                "the artifacts of this " + std::string(whose) + " reached their limit of " +
                    std::to_string(limit) + " bytes",
                "delete artifacts that are no longer needed, or raise the limit");
}

tl::unexpected<Error> over_count(std::string_view whose, std::uint64_t limit) {
    return fail(ErrorCode::too_many,
                "this " + std::string(whose) + " reached its limit of " + std::to_string(limit) +
                    " artifacts",
                "delete artifacts that are no longer needed, or raise the limit");
}

void subtract(std::map<std::string, Totals>& sums, const std::string& key, std::uint64_t bytes) {
    const auto at = sums.find(key);
    if (at == sums.end()) return;
    at->second.count -= std::min<std::uint64_t>(at->second.count, 1);
    at->second.bytes -= std::min(at->second.bytes, bytes);
}

}  // namespace

// Fills the sums of this execution and tenant from the index when they are not known yet.
// Precondition: both mutexes are held.
Result<void> StoreCore::load_locked(const ArtifactInfo& info) {
    if (!tenants_.contains(info.tenant)) {
        CB_TRY_ASSIGN(totals, index->totals_of_tenant(info.tenant));
        tenants_.emplace(info.tenant, totals);
    }
    if (!info.execution_id.empty() && !executions_.contains(info.execution_id)) {
        // Forgetting an execution with a writer under way would lose that writer's bytes from the
        // sum until it ends: the tenant's sum still counts them.
        if (executions_.size() >= remembered_executions_max) executions_.clear();
        CB_TRY_ASSIGN(totals, index->totals_of_execution(info.execution_id));
        executions_.emplace(info.execution_id, totals);
    }
    return {};
}

Result<void> StoreCore::admit(const ArtifactInfo& info) {
    const std::lock_guard index_lock(mutex);
    const std::lock_guard lock(accounts_mutex_);
    CB_TRY(load_locked(info));
    Totals& tenant = tenants_[info.tenant];
    if (tenant.count >= quotas.per_tenant_max) return over_count("tenant", quotas.per_tenant_max);
    if (!info.execution_id.empty()) {
        Totals& execution = executions_[info.execution_id];
        if (execution.count >= quotas.per_execution_max) {
            return over_count("execution", quotas.per_execution_max);
        }
        ++execution.count;
    }
    ++tenant.count;
    return {};
}

Result<void> StoreCore::reserve(const ArtifactInfo& info, std::uint64_t bytes) {
    const std::lock_guard lock(accounts_mutex_);
    Totals& tenant = tenants_[info.tenant];
    if (tenant.bytes + bytes > quotas.bytes_per_tenant_max) {
        return over_bytes("tenant", quotas.bytes_per_tenant_max);
    }
    const auto execution = executions_.find(info.execution_id);
    if (execution != executions_.end()) {
        if (execution->second.bytes + bytes > quotas.bytes_per_execution_max) {
            return over_bytes("execution", quotas.bytes_per_execution_max);
        }
        execution->second.bytes += bytes;
    }
    tenant.bytes += bytes;
    return {};
}

void StoreCore::release(const ArtifactInfo& info, std::uint64_t bytes) {
    const std::lock_guard lock(accounts_mutex_);
    subtract(tenants_, info.tenant, bytes);
    subtract(executions_, info.execution_id, bytes);
}

Result<void> StoreCore::check_disk() const {
    CB_TRY_ASSIGN(free, free_bytes(blobs.folder()));
    if (free < quotas.disk_reserve_bytes) {
        return fail(ErrorCode::disk_full,
                    "the disk of the artifact store has " + std::to_string(free) + " bytes left; " +
                        std::to_string(quotas.disk_reserve_bytes) + " are kept free",
                    "free some space on the disk of the state directory");
    }
    return {};
}

Result<void> StoreCore::erase_locked(const std::string& id) {
    CB_TRY_ASSIGN(erased, index->erase(id));
    if (!erased) return fail(ErrorCode::not_found, "there is no artifact " + id);
    release(erased->info, erased->size_bytes);
    CB_TRY_ASSIGN(referenced, index->references(erased->sha256));
    if (referenced) return {};
    return blobs.remove(erased->sha256);
}

}  // namespace cellblock::artifacts::detail
