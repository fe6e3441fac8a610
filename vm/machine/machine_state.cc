#include "vm/machine/machine_state.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

namespace cellblock::vm {

Result<PageBuffer> PageBuffer::allocate(std::size_t bytes) {
    PageBuffer buffer;
    if (bytes == 0) return buffer;
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return fail(error_from_errno(errno, "get memory for a machine"));
    // Wishes: large pages fault 512 times less often, and a guest's memory belongs in no core dump.
    (void)::madvise(memory, bytes, MADV_HUGEPAGE);
    (void)::madvise(memory, bytes, MADV_DONTDUMP);
    buffer.data_ = static_cast<std::byte*>(memory);
    buffer.size_ = bytes;
    return buffer;
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

PageBuffer::~PageBuffer() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

Result<std::uint64_t> count_pages(std::span<const PageRun> runs, std::uint64_t ram_bytes) {
    const std::uint64_t ram_pages = ram_bytes / guest_page_bytes;
    std::uint64_t pages = 0;
    std::uint64_t free_from = 0;  // where the next run may begin
    for (const PageRun& run : runs) {
        const std::uint64_t end = std::uint64_t{run.first} + run.count;
        if (run.count == 0 || run.first < free_from || end > ram_pages) {
            return fail(ErrorCode::invalid_argument, "a machine's pages are not in order");
        }
        pages += run.count;
        free_from = end + 1;
    }
    return pages;
}

}  // namespace cellblock::vm
