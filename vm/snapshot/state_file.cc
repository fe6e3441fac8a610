#include "vm/snapshot/state_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/limits.h"

namespace cellblock::vm {
namespace {

constexpr std::string_view magic = "CBSTATE1";
constexpr std::size_t head_bytes = 8 + 8 + 4 + 4 + 4;
constexpr std::size_t run_bytes = 8;
// Level 1: 500 MB/s and a third of the size; 3 costs twice the time for a tenth less.
constexpr int level = 1;
constexpr std::size_t chunk_bytes = 1 * limits::MiB;
constexpr std::size_t key_max_bytes = 128;
// RAM of the largest template that a configuration allows.
constexpr std::uint64_t ram_max_bytes = 64 * limits::GiB;
// How often the free disk is looked at.
constexpr std::uint64_t space_check_bytes = 16 * limits::MiB;

tl::unexpected<Error> damaged(std::string what) {
    return fail(ErrorCode::io, "the saved state is damaged: " + std::move(what),
                "it cannot be used; delete it");
}

// Compresses into a file, counting and hashing what lands there.
class StateWriter {
  public:
    StateWriter(const Fd& file, std::filesystem::path folder)
        : file_(file),
          folder_(std::move(folder)),
          context_(ZSTD_createCCtx(), &ZSTD_freeCCtx),
          out_(chunk_bytes) {
        ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    }

    Result<void> plain(std::string_view text) { return put(text.data(), text.size()); }
    Result<void> add(ByteView bytes) { return compress(bytes, ZSTD_e_continue); }
    Result<StateFileSum> finish() {
        CB_TRY(compress({}, ZSTD_e_end));
        if (::fsync(file_.get()) != 0) return fail(error_from_errno(errno, "sync a saved state"));
        sum_.sha256 = hash_.finish();
        return sum_;
    }

  private:
    Result<void> compress(ByteView bytes, ZSTD_EndDirective directive) {
        ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
        while (true) {
            ZSTD_outBuffer out{out_.data(), out_.size(), 0};
            const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in, directive);
            if (ZSTD_isError(left)) {
                return fail(ErrorCode::internal,
                            std::string("zstd failed: ") + ZSTD_getErrorName(left));
            }
            CB_TRY(put(out_.data(), out.pos));
            const bool done = directive == ZSTD_e_end ? left == 0 : in.pos == in.size;
            if (done) return {};
        }
    }

    Result<void> put(const char* data, std::size_t size) {
        if (sum_.bytes >= checked_at_) {
            checked_at_ = sum_.bytes + space_check_bytes;
            CB_TRY_ASSIGN(free, free_bytes(folder_));
            if (free < limits::snapshot_disk_reserve_bytes + space_check_bytes) {
                return fail(ErrorCode::disk_full, "there is too little disk space for the state",
                            "delete snapshots, artifacts or other files below " + folder_.string());
            }
        }
        CB_TRY(write_all(file_.get(), std::string_view(data, size)));
        hash_.update(as_bytes(std::string_view(data, size)));
        sum_.bytes += size;
        return {};
    }

    const Fd& file_;
    std::filesystem::path folder_;
    std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context_;
    std::vector<char> out_;
    Sha256 hash_;
    StateFileSum sum_;
    std::uint64_t checked_at_ = 0;
};

class StateReader {
  public:
    explicit StateReader(int fd)
        : fd_(fd), context_(ZSTD_createDCtx(), &ZSTD_freeDCtx), in_bytes_(chunk_bytes) {}

    Result<void> check_magic() {
        std::array<char, magic.size()> found{};
        CB_TRY_ASSIGN(count, read_some(found.data(), found.size()));
        if (count != found.size() || std::string_view(found.data(), count) != magic) {
            return damaged("it is of no known format");
        }
        return {};
    }

    Result<void> read(std::byte* to, std::size_t size) {
        ZSTD_outBuffer out{to, size, 0};
        while (out.pos < out.size) {
            if (in_.pos == in_.size) {
                CB_TRY_ASSIGN(count, read_some(in_bytes_.data(), in_bytes_.size()));
                if (count == 0) return damaged("it ends early");
                in_ = ZSTD_inBuffer{in_bytes_.data(), count, 0};
            }
            CB_TRY(step(out));
            if (frame_over_ && out.pos < out.size) return damaged("it ends early");
        }
        return {};
    }

    // The frame ends here, and the file with it.
    Result<void> check_end() {
        std::byte extra{};
        ZSTD_outBuffer out{&extra, 1, 0};
        while (!frame_over_ && out.pos == 0) {
            if (in_.pos == in_.size) {
                CB_TRY_ASSIGN(count, read_some(in_bytes_.data(), in_bytes_.size()));
                if (count == 0) return damaged("it ends early");
                in_ = ZSTD_inBuffer{in_bytes_.data(), count, 0};
            }
            CB_TRY(step(out));
        }
        CB_TRY_ASSIGN(more, read_some(in_bytes_.data(), 1));
        if (out.pos > 0 || in_.pos < in_.size || more > 0)
            return damaged("it has more than it says");
        return {};
    }

  private:
    Result<void> step(ZSTD_outBuffer& out) {
        const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in_);
        if (ZSTD_isError(left)) return damaged(ZSTD_getErrorName(left));
        frame_over_ = left == 0;
        return {};
    }

    Result<std::size_t> read_some(char* to, std::size_t size) {
        while (true) {
            const ssize_t count = ::read(fd_, to, size);
            if (count >= 0) return static_cast<std::size_t>(count);
            if (errno != EINTR) return fail(error_from_errno(errno, "read a saved state"));
        }
    }

    int fd_;
    std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
    std::vector<char> in_bytes_;
    ZSTD_inBuffer in_{nullptr, 0, 0};
    bool frame_over_ = false;
};

struct Head {
    std::uint64_t ram_bytes = 0;
    std::uint64_t pages = 0;
    std::uint32_t runs = 0;
    std::uint32_t device_bytes = 0;
    std::uint32_t key_bytes = 0;

    Head() = default;
};

Bytes encode_head(const Head& head) {
    Bytes bytes(head_bytes);
    store_le(bytes.data(), head.ram_bytes);
    store_le(bytes.data() + 8, head.pages);
    store_le(bytes.data() + 16, head.runs);
    store_le(bytes.data() + 20, head.device_bytes);
    store_le(bytes.data() + 24, head.key_bytes);
    return bytes;
}

Result<Head> read_head(StateReader& reader) {
    std::array<std::byte, head_bytes> bytes{};
    CB_TRY(reader.read(bytes.data(), bytes.size()));
    Head head;
    head.ram_bytes = load_le<std::uint64_t>(bytes.data());
    head.pages = load_le<std::uint64_t>(bytes.data() + 8);
    head.runs = load_le<std::uint32_t>(bytes.data() + 16);
    head.device_bytes = load_le<std::uint32_t>(bytes.data() + 20);
    head.key_bytes = load_le<std::uint32_t>(bytes.data() + 24);
    const std::uint64_t ram_pages = head.ram_bytes / guest_page_bytes;
    if (head.ram_bytes > ram_max_bytes || head.pages > ram_pages || head.runs > head.pages ||
        head.device_bytes > limits::qemu_file_max_bytes || head.key_bytes > key_max_bytes) {
        return damaged("its sizes are not possible");
    }
    return head;
}

Result<std::vector<PageRun>> read_runs(StateReader& reader, std::size_t count) {
    std::vector<PageRun> runs;
    Bytes chunk;
    while (runs.size() < count) {
        const std::size_t now = std::min(count - runs.size(), chunk_bytes / run_bytes);
        chunk.resize(now * run_bytes);
        CB_TRY(reader.read(chunk.data(), chunk.size()));
        for (std::size_t i = 0; i < now; ++i) {
            const std::byte* at = chunk.data() + i * run_bytes;
            runs.emplace_back(load_le<std::uint32_t>(at), load_le<std::uint32_t>(at + 4));
        }
    }
    return runs;
}

Bytes encode_runs(const std::vector<PageRun>& runs) {
    Bytes bytes(runs.size() * run_bytes);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        store_le(bytes.data() + i * run_bytes, runs[i].first);
        store_le(bytes.data() + i * run_bytes + 4, runs[i].count);
    }
    return bytes;
}

Result<std::string> read_text(StateReader& reader, std::size_t size) {
    Bytes bytes(size);
    CB_TRY(reader.read(bytes.data(), bytes.size()));
    return std::string(as_text(bytes));
}

}  // namespace

Result<StateFileSum> write_state_file(const std::filesystem::path& path,
                                      const MachineState& state) {
    CB_TRY_ASSIGN(file, open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
    Head head;
    head.ram_bytes = state.ram_bytes;
    head.pages = state.pages.bytes().size() / guest_page_bytes;
    head.runs = static_cast<std::uint32_t>(state.runs.size());
    head.device_bytes = static_cast<std::uint32_t>(state.devices.size());
    head.key_bytes = static_cast<std::uint32_t>(state.template_key.size());
    StateWriter writer(file, path.parent_path());
    CB_TRY(writer.plain(magic));
    CB_TRY(writer.add(encode_head(head)));
    CB_TRY(writer.add(as_bytes(state.template_key)));
    CB_TRY(writer.add(encode_runs(state.runs)));
    CB_TRY(writer.add(as_bytes(state.devices)));
    CB_TRY(writer.add(state.pages.bytes()));
    return writer.finish();
}

Result<MachineState> decode_state(int fd) {
    StateReader reader(fd);
    CB_TRY(reader.check_magic());
    CB_TRY_ASSIGN(head, read_head(reader));
    MachineState state;
    state.ram_bytes = head.ram_bytes;
    CB_TRY_ASSIGN(key, read_text(reader, head.key_bytes));
    CB_TRY_ASSIGN(runs, read_runs(reader, head.runs));
    CB_TRY_ASSIGN(pages, count_pages(runs, head.ram_bytes));
    if (pages != head.pages) return damaged("its pages do not agree with their number");
    CB_TRY_ASSIGN(devices, read_text(reader, head.device_bytes));
    CB_TRY_ASSIGN(buffer, PageBuffer::allocate(head.pages * guest_page_bytes));
    CB_TRY(reader.read(buffer.bytes().data(), buffer.bytes().size()));
    CB_TRY(reader.check_end());
    state.template_key = std::move(key);
    state.runs = std::move(runs);
    state.devices = std::move(devices);
    state.pages = std::move(buffer);
    return state;
}

Result<MachineState> read_state_file(const std::filesystem::path& path, const StateFileSum& sum) {
    CB_TRY_ASSIGN(sha256, sha256_file(path));
    if (sha256 != sum.sha256) return damaged("its checksum is another one");
    CB_TRY_ASSIGN(file, open_file(path, O_RDONLY));
    return decode_state(file.get());
}

}  // namespace cellblock::vm
