// Any bytes as a saved state: refused, or a state whose parts agree. A first byte of 'z' says that
// the rest is to be compressed here, so that mutations reach what is behind the compression.
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/files.h"
#include "vm/snapshot/state_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cellblock;
    using namespace cellblock::vm;
    std::string file(reinterpret_cast<const char*>(data), size);
    if (!file.empty() && file.front() == 'z') {
        std::vector<char> frame(ZSTD_compressBound(size - 1));
        const std::size_t bytes =
            ZSTD_compress(frame.data(), frame.size(), file.data() + 1, size - 1, 1);
        if (ZSTD_isError(bytes)) return 0;
        file = "CBSTATE1" + std::string(frame.data(), bytes);
    }
    const Fd fd(::memfd_create("state", MFD_CLOEXEC));
    if (!write_all(fd.get(), file) || ::lseek(fd.get(), 0, SEEK_SET) != 0) return 0;
    const auto state = decode_state(fd.get());
    if (!state) return 0;
    const auto pages = count_pages(state->runs, state->ram_bytes);
    if (!pages) std::abort();
    if (state->pages.bytes().size() != *pages * guest_page_bytes) std::abort();
    return 0;
}
