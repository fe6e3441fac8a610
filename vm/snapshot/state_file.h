// A MachineState as a file: compressed, checksummed, read with bounds.
//
//   8 bytes "CBSTATE1", then one zstd frame of
//   u64 ram_bytes, u64 pages, u32 runs, u32 device_bytes, u32 key_bytes,
//   the key, the runs (u32 first page, u32 count), the devices, the pages
//
// Integers are little-endian. A guest wrote most of it, but only the gateway writes the file: the
// checksum, kept apart from it, finds what a disk or a person has changed. Blocking, for worker
// threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "vm/machine/machine_state.h"

namespace cellblock::vm {

struct StateFileSum {
    std::uint64_t bytes = 0;
    std::string sha256;

    StateFileSum() = default;
};

// Writes a new file and syncs it. disk_full also when less than
// limits::snapshot_disk_reserve_bytes would be left. After an error the file is of no use.
Result<StateFileSum> write_state_file(const std::filesystem::path& path, const MachineState& state);

// `io` when the file is not what `sum` says.
Result<MachineState> read_state_file(const std::filesystem::path& path, const StateFileSum& sum);

// Without the checksum; any bytes at all are met with an error.
Result<MachineState> decode_state(int fd);

}  // namespace cellblock::vm
