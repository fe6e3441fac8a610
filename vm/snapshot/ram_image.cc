#include "vm/snapshot/ram_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/limits.h"

namespace cellblock::vm {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t chunk_bytes = 1 * limits::MiB;

bool is_zero(const char* page) {
    return page[0] == 0 && std::memcmp(page, page + 1, page_bytes - 1) == 0;
}

Result<void> read_exactly(int fd, char* to, std::size_t size, std::uint64_t offset) {
    while (size > 0) {
        const ssize_t n = ::pread(fd, to, size, static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(error_from_errno(errno, "read a RAM image"));
        if (n == 0) return fail(ErrorCode::io, "a RAM image ended early");
        to += n;
        offset += static_cast<std::uint64_t>(n);
        size -= static_cast<std::size_t>(n);
    }
    return {};
}

Result<void> write_exactly(int fd, const char* from, std::size_t size, std::uint64_t offset) {
    while (size > 0) {
        const ssize_t n = ::pwrite(fd, from, size, static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(error_from_errno(errno, "write a RAM image"));
        from += n;
        offset += static_cast<std::uint64_t>(n);
        size -= static_cast<std::size_t>(n);
    }
    return {};
}

// One chunk: its pages that are not zero go into the checksum and, in runs, to `to`.
Result<void> take_chunk(const std::vector<char>& chunk, std::size_t size, std::uint64_t offset,
                        int to, Sha256& hash, RamChecksum& sum) {
    std::size_t run_begin = 0;
    std::size_t run_bytes = 0;
    for (std::size_t at = 0; at <= size; at += page_bytes) {
        const bool data = at < size && !is_zero(chunk.data() + at);
        if (data) {
            std::array<std::byte, 8> place;
            store_le<std::uint64_t>(place.data(), offset + at);
            hash.update(place);
            hash.update(as_bytes(std::string_view(chunk.data() + at, page_bytes)));
            sum.data_bytes += page_bytes;
            if (run_bytes == 0) run_begin = at;
            run_bytes += page_bytes;
        } else if (run_bytes > 0) {
            if (to >= 0) {
                CB_TRY(write_exactly(to, chunk.data() + run_begin, run_bytes, offset + run_begin));
            }
            run_bytes = 0;
        }
    }
    return {};
}

}  // namespace

Result<Fd> make_ram_memfd(std::uint64_t bytes) {
    Fd fd(::memfd_create("cellblock-ram", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd) return fail(error_from_errno(errno, "make a memfd"));
    if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
        return fail(error_from_errno(errno, "size a memfd"));
    }
    return fd;
}

Result<void> seal_ram(int memfd) {
    if (::fcntl(memfd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
        0) {
        return fail(error_from_errno(errno, "seal a RAM image"));
    }
    return {};
}

Result<RamChecksum> copy_ram(int from, int to) {
    struct stat status;
    if (::fstat(from, &status) != 0) return fail(error_from_errno(errno, "look at a RAM image"));
    const off_t end = status.st_size;
    if (end % static_cast<off_t>(page_bytes) != 0) {
        return fail(ErrorCode::io, "a RAM image has a size of no whole pages");
    }
    if (to >= 0 && ::ftruncate(to, end) != 0) {
        return fail(error_from_errno(errno, "size a RAM image"));
    }
    std::vector<char> chunk(chunk_bytes);
    Sha256 hash;
    RamChecksum sum;
    off_t done = 0;
    while (done < end) {
        const off_t data = ::lseek(from, done, SEEK_DATA);
        if (data < 0 && errno == ENXIO) break;  // only a hole is left
        if (data < 0) return fail(error_from_errno(errno, "walk a RAM image"));
        off_t hole = ::lseek(from, data, SEEK_HOLE);
        if (hole < 0) hole = end;
        const off_t page = static_cast<off_t>(page_bytes);
        off_t at = std::max(done, data / page * page);
        hole = std::min(end, (hole + page - 1) / page * page);
        while (at < hole) {
            const auto size = static_cast<std::size_t>(
                std::min<off_t>(hole - at, static_cast<off_t>(chunk_bytes)));
            CB_TRY(read_exactly(from, chunk.data(), size, static_cast<std::uint64_t>(at)));
            CB_TRY(take_chunk(chunk, size, static_cast<std::uint64_t>(at), to, hash, sum));
            at += static_cast<off_t>(size);
        }
        done = hole;
    }
    sum.sha256 = hash.finish();
    return sum;
}

}  // namespace cellblock::vm
