// Tells when memory gets short on this host, before a start is refused for it, and when it is over.
//
// Short: what is available comes near the reserve below which nothing new starts, or tasks wait
// for memory already. Over: clearly neither, since a value at a border would be told again and
// again. Pure; owner: whoever looks.
#pragma once

#include <cstdint>

#include "base/host_memory.h"

namespace cellblock::vm {

enum class MemoryNews { none, short_now, over };

class MemoryWatch {
  public:
    // `reserve_bytes`: CapacityOptions::host_reserve_bytes.
    MemoryNews look(const HostMemory& memory, std::uint64_t reserve_bytes);
    bool is_short() const { return short_; }

  private:
    bool short_ = false;
};

}  // namespace cellblock::vm
