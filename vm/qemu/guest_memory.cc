#include "vm/qemu/guest_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <string>

#include "base/files.h"
#include "base/limits.h"

namespace cellblock::vm {
namespace {

// Documentation/admin-guide/mm/pagemap.rst
constexpr std::uint64_t page_is_present = std::uint64_t{1} << 63;
constexpr std::uint64_t page_is_swapped = std::uint64_t{1} << 62;
constexpr std::uint64_t page_is_of_file = std::uint64_t{1} << 61;
// Entries read at once: 2 MiB of them describe 1 GiB.
constexpr std::size_t entries_at_once = 256 * limits::KiB;

bool is_private(std::uint64_t entry) {
    return (entry & (page_is_present | page_is_swapped)) != 0 && (entry & page_is_of_file) == 0;
}

struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    std::uint64_t inode = 0;
    unsigned device_major = 0;
    unsigned device_minor = 0;
    bool is_private_writable = false;

    Mapping() = default;
};

// "7f10-7f20 rw-p 00001000 00:01 4711   /memfd:cellblock-ram (deleted)"
bool parse_mapping(const std::string& line, Mapping& mapping) {
    char flags[5] = {};
    const int fields =
        std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64,
                    &mapping.begin, &mapping.end, flags, &mapping.offset, &mapping.device_major,
                    &mapping.device_minor, &mapping.inode);
    mapping.is_private_writable = std::string_view(flags) == "rw-p";
    return fields == 7 && mapping.begin < mapping.end;
}

Result<Fd> open_of_process(pid_t pid, const char* file, int flags) {
    auto opened = open_file("/proc/" + std::to_string(pid) + "/" + file, flags);
    if (opened) return opened;
    Error error = opened.error().in("looking at a machine's memory");
    error.advice =
        "the gateway needs CAP_SYS_PTRACE (in a container, run it with --cap-add SYS_PTRACE)";
    return fail(std::move(error));
}

template <typename Call>
Result<void> all_of(std::size_t bytes, const char* doing, Call call) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t count = call(done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(error_from_errno(errno, doing));
        if (count == 0) return fail(ErrorCode::sandbox_gone, "the machine ended meanwhile");
        done += static_cast<std::size_t>(count);
    }
    return {};
}

}  // namespace

Result<std::vector<GuestMemory::Piece>> GuestMemory::find_pieces(pid_t pid, int ram,
                                                                 std::uint64_t ram_bytes) {
    struct stat status{};
    if (::fstat(ram, &status) != 0) return fail(error_from_errno(errno, "look at a RAM image"));
    CB_TRY_ASSIGN(text, read_file("/proc/" + std::to_string(pid) + "/maps", 4 * limits::MiB));
    std::vector<Mapping> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        Mapping mapping;
        if (!parse_mapping(line, mapping) || mapping.inode != status.st_ino) continue;
        if (makedev(mapping.device_major, mapping.device_minor) != status.st_dev) continue;
        if (mapping.is_private_writable) found.push_back(mapping);
    }
    std::sort(found.begin(), found.end(),
              [](const Mapping& a, const Mapping& b) { return a.offset < b.offset; });
    std::vector<Piece> pieces;
    std::uint64_t end = 0;
    for (const Mapping& mapping : found) {
        if (mapping.offset != end) break;
        const std::uint64_t bytes = mapping.end - mapping.begin;
        pieces.emplace_back(end / guest_page_bytes, bytes / guest_page_bytes, mapping.begin);
        end += bytes;
    }
    if (end != ram_bytes || pieces.size() != found.size()) {
        return fail(ErrorCode::sandbox_gone, "the machine's memory is not where it was");
    }
    return pieces;
}

Result<GuestMemory> GuestMemory::open(pid_t pid, int ram, std::uint64_t ram_bytes) {
    GuestMemory memory;
    // Opened before the check: from here on all speak of the same process.
    CB_TRY_ASSIGN(bytes, open_of_process(pid, "mem", O_RDWR));
    CB_TRY_ASSIGN(map, open_of_process(pid, "pagemap", O_RDONLY));
    CB_TRY_ASSIGN(pieces, find_pieces(pid, ram, ram_bytes));
    memory.memory_ = std::move(bytes);
    memory.page_map_ = std::move(map);
    memory.pieces_ = std::move(pieces);
    return memory;
}

Result<std::vector<PageRun>> GuestMemory::private_pages() const {
    std::vector<PageRun> runs;
    std::vector<std::uint64_t> entries(entries_at_once);
    for (const Piece& piece : pieces_) {
        for (std::uint64_t done = 0; done < piece.page_count; done += entries_at_once) {
            const std::uint64_t count =
                std::min<std::uint64_t>(entries_at_once, piece.page_count - done);
            const std::uint64_t where = piece.address / guest_page_bytes + done;
            CB_TRY(all_of(
                count * sizeof(std::uint64_t), "read a machine's page map", [&](std::size_t at) {
                    return ::pread(page_map_.get(), reinterpret_cast<char*>(entries.data()) + at,
                                   count * sizeof(std::uint64_t) - at,
                                   static_cast<off_t>(where * sizeof(std::uint64_t) + at));
                }));
            for (std::uint64_t i = 0; i < count; ++i) {
                if (!is_private(entries[i])) continue;
                const auto page = static_cast<std::uint32_t>(piece.first_page + done + i);
                if (!runs.empty() && runs.back().first + runs.back().count == page) {
                    ++runs.back().count;
                } else {
                    runs.emplace_back(page, 1);
                }
            }
        }
    }
    return runs;
}

template <typename Transfer>
Result<void> GuestMemory::for_each_stretch(std::span<const PageRun> runs, std::size_t pages_bytes,
                                           Transfer transfer) const {
    auto piece = pieces_.begin();
    std::size_t packed = 0;
    for (const PageRun& run : runs) {
        std::uint64_t page = run.first;
        std::uint64_t left = run.count;
        while (left > 0) {
            while (piece != pieces_.end() && page >= piece->first_page + piece->page_count) ++piece;
            if (piece == pieces_.end() || page < piece->first_page) {
                return fail(ErrorCode::invalid_argument, "a page lies outside the guest's RAM");
            }
            const std::uint64_t in_piece = page - piece->first_page;
            const std::uint64_t pages = std::min(left, piece->page_count - in_piece);
            const std::size_t bytes = pages * guest_page_bytes;
            if (bytes > pages_bytes - packed) {
                return fail(ErrorCode::invalid_argument, "pages and their runs do not agree");
            }
            CB_TRY(transfer(piece->address + in_piece * guest_page_bytes, bytes, packed));
            packed += bytes;
            page += pages;
            left -= pages;
        }
    }
    return {};
}

Result<void> GuestMemory::read(std::span<const PageRun> runs, std::span<std::byte> pages) const {
    const auto transfer = [&](std::uint64_t address, std::size_t bytes, std::size_t packed) {
        return all_of(bytes, "read a machine's memory", [&](std::size_t at) {
            return ::pread(memory_.get(), pages.data() + packed + at, bytes - at,
                           static_cast<off_t>(address + at));
        });
    };
    return for_each_stretch(runs, pages.size(), transfer);
}

Result<void> GuestMemory::write(std::span<const PageRun> runs, ByteView pages) const {
    const auto transfer = [&](std::uint64_t address, std::size_t bytes, std::size_t packed) {
        return all_of(bytes, "write a machine's memory", [&](std::size_t at) {
            return ::pwrite(memory_.get(), pages.data() + packed + at, bytes - at,
                            static_cast<off_t>(address + at));
        });
    };
    return for_each_stretch(runs, pages.size(), transfer);
}

}  // namespace cellblock::vm
