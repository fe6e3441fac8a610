// temporary: moves into limits.h before landing
#pragma once
#include "base/limits.h"
namespace cellblock::limits {
// Children of one fork (E2B's limit), and how many of them are on their way at once: the pool
// starts fewer, the others wait for their turn there.
inline constexpr std::size_t fork_children_max = 100;
inline constexpr std::size_t fork_concurrent_max = 8;
// Snapshots and paused sandboxes: how long they are kept, how many, and what one description
// (contexts, environments, names) may hold.
inline constexpr seconds snapshot_retention_default{30 * 24 * 3600};
inline constexpr std::size_t snapshots_max = 10'000;
inline constexpr std::size_t snapshot_name_max_bytes = 128;
inline constexpr std::size_t snapshot_description_max_bytes = 8 * MiB;
// When a sandbox cannot be paused at its timeout (a full disk), it is tried again after this.
inline constexpr seconds pause_retry_interval{60};
// Free disk that a snapshot leaves: SQLite and the run folders must still be able to write.
inline constexpr std::size_t snapshot_disk_reserve_bytes = 256 * MiB;
}  // namespace cellblock::limits
