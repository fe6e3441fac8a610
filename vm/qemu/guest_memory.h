// The RAM of a QEMU, seen through /proc: which pages are its own, reading and writing them.
//
// QEMU maps the template's sealed memfd privately. A page that it has written is anonymous then; a
// page that it has only read, even one of a hole, is still the memfd's. The kernel's page map tells
// which is which, so no dirty log is needed, and nothing that QEMU says is trusted.
//
// Needs the rights of a debugger: the gateway's own uid outside of the jail has them, root needs
// CAP_SYS_PTRACE. The guest must stand still. Blocking, for worker threads: 1 GB/s or so.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "vm/machine/machine_state.h"

namespace cellblock::vm {

class GuestMemory {
  public:
    // `ram`: the memfd that process `pid` maps as its RAM, `ram_bytes` long. A process that maps
    // another one, or not all of it, is refused: `pid` may name somebody else by now.
    static Result<GuestMemory> open(pid_t pid, int ram, std::uint64_t ram_bytes);

    Result<std::vector<PageRun>> private_pages() const;
    // The pages of `runs` to or from `pages`, one after the other; the sizes agree.
    Result<void> read(std::span<const PageRun> runs, std::span<std::byte> pages) const;
    Result<void> write(std::span<const PageRun> runs, ByteView pages) const;

  private:
    // Of the guest's RAM in QEMU's address space. QEMU may have split it; pieces are in order.
    struct Piece {
        std::uint64_t first_page;
        std::uint64_t page_count;
        std::uint64_t address;
        Piece(std::uint64_t first, std::uint64_t count, std::uint64_t at)
            : first_page(first), page_count(count), address(at) {}
    };

    GuestMemory() = default;
    static Result<std::vector<Piece>> find_pieces(pid_t pid, int ram, std::uint64_t ram_bytes);
    // Calls transfer(address, bytes, offset into the packed pages) for each stretch.
    template <typename Transfer>
    Result<void> for_each_stretch(std::span<const PageRun> runs, std::size_t pages_bytes,
                                  Transfer transfer) const;

    std::vector<Piece> pieces_;
    Fd page_map_;
    Fd memory_;
};

}  // namespace cellblock::vm
