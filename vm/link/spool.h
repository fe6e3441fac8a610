// A bounded file for what streams write while the host is away.
//
// Append-only; when all that was appended is released it starts again at the front. The file
// system's own failure (a full disk) means no more room, not an error: writers then wait as without
// a spool. The calls block for as long as a write to the guest's RAM disk takes. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/fd.h"

namespace cellblock::vm::link {

class Spool {
  public:
    struct Extent {
        std::uint64_t offset;
        std::size_t bytes;
        Extent(std::uint64_t offset_, std::size_t bytes_) : offset(offset_), bytes(bytes_) {}
    };

    // Without a file there is never room.
    Spool(Fd file, std::size_t max_bytes);

    bool enabled() const { return static_cast<bool>(file_); }
    std::size_t live_bytes() const { return live_bytes_; }
    // Where `bytes` are now; std::nullopt when there is no room.
    std::optional<Extent> append(ByteView bytes);
    // Appends the extent's bytes to `to`; false when the file cannot be read back.
    bool read(const Extent& extent, Bytes& to);
    // The bytes are not needed any more.
    void release(std::size_t bytes);

  private:
    Fd file_;
    std::size_t max_bytes_;
    std::uint64_t end_ = 0;
    std::size_t live_bytes_ = 0;
};

}  // namespace cellblock::vm::link
