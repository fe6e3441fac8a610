#include "vm/link/spool.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/log.h"

namespace cellblock::vm::link {

Spool::Spool(Fd file, std::size_t max_bytes) : file_(std::move(file)), max_bytes_(max_bytes) {}

std::optional<Spool::Extent> Spool::append(ByteView bytes) {
    if (!file_ || bytes.size() > max_bytes_ - end_) return std::nullopt;
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = ::pwrite(file_.get(), bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(end_ + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return std::nullopt;
        done += static_cast<std::size_t>(n);
    }
    const Extent extent(end_, bytes.size());
    end_ += bytes.size();
    live_bytes_ += bytes.size();
    return extent;
}

bool Spool::read(const Extent& extent, Bytes& to) {
    const std::size_t start = to.size();
    to.resize(start + extent.bytes);
    std::size_t done = 0;
    while (done < extent.bytes) {
        const ssize_t n = ::pread(file_.get(), to.data() + start + done, extent.bytes - done,
                                  static_cast<off_t>(extent.offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += static_cast<std::size_t>(n);
    }
    return true;
}

void Spool::release(std::size_t bytes) {
    live_bytes_ -= bytes;
    if (live_bytes_ > 0) return;
    end_ = 0;
    if (file_ && ::ftruncate(file_.get(), 0) != 0) {
        log::warning("link_spool_not_truncated", {{"errno", errno}});
    }
}

}  // namespace cellblock::vm::link
