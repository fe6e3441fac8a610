// A machine at one moment, as values: what it has written since its template, and its devices.
//
// Complete only together with the template: memory is a difference to the template's, never to
// another state, so states form no chains. Bytes of the driver's; nothing above it looks inside.
// Immutable once made: any number of machines may start from one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace cellblock::vm {

inline constexpr std::size_t guest_page_bytes = 4096;

// Pages that follow each other in the guest's RAM.
struct PageRun {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    PageRun() = default;
    PageRun(std::uint32_t first_, std::uint32_t count_) : first(first_), count(count_) {}
    bool operator==(const PageRun&) const = default;
};

// Memory for pages: taken from the system untouched, given back at once, kept out of core dumps.
class PageBuffer {
  public:
    PageBuffer() = default;
    static Result<PageBuffer> allocate(std::size_t bytes);
    PageBuffer(PageBuffer&& other) noexcept;
    PageBuffer& operator=(PageBuffer&& other) noexcept;
    ~PageBuffer();

    std::span<std::byte> bytes() { return {data_, size_}; }
    ByteView bytes() const { return {data_, size_}; }

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

struct MachineState {
    std::string template_key;
    std::uint64_t ram_bytes = 0;
    std::vector<PageRun> runs;  // rising, not adjacent
    PageBuffer pages;           // those of the runs, one after the other
    std::string devices;

    MachineState() = default;
};
using MachineStatePointer = std::shared_ptr<const MachineState>;

// The pages of `runs` together; invalid_argument when they are not rising, not apart, or not
// within `ram_bytes`.
Result<std::uint64_t> count_pages(std::span<const PageRun> runs, std::uint64_t ram_bytes);

}  // namespace cellblock::vm
