// RAM images: sparse, page-wise, checked. A template's RAM lives in a sealed memfd (nobody can
// change it any more, not even a QEMU that its guest took over) and on disk as a sparse file.
//
// All blocking: for worker threads.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace cellblock::vm {

// A memfd of `bytes`, sealable, all zero.
Result<Fd> make_ram_memfd(std::uint64_t bytes);
// Read-only for everybody and for ever. Fails while somebody maps it shared and writable.
Result<void> seal_ram(int memfd);

struct RamChecksum {
    std::uint64_t data_bytes = 0;  // in pages that are not all zero
    std::string
        sha256;  // over (offset as u64 LE, page) of those pages in order: holes do not matter

    RamChecksum() = default;
};

// Copies every page of `from` that is not zero to the same offset of `to`, which reads as zero
// there (a new sparse file or memfd) and gets `from`'s size. -1 as `to`: only the checksum.
Result<RamChecksum> copy_ram(int from, int to);

}  // namespace cellblock::vm
