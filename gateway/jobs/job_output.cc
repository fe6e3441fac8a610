#include "gateway/jobs/job_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/files.h"
#include "gateway/jobs/job_limits.h"

namespace cellblock::gateway::jobs {

Result<std::shared_ptr<JobOutput>> JobOutput::open(const std::filesystem::path& path) {
    CB_TRY_ASSIGN(fd, open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) {
        return fail(error_from_errno(errno, "look at " + path.string()));
    }
    std::shared_ptr<JobOutput> output(
        new JobOutput(std::move(fd), static_cast<std::uint64_t>(status.st_size)));
    // A crash may have left the beginning of a line.
    std::uint64_t end = output->size_at_opening_;
    while (end > 0) {
        const std::uint64_t begin = end - std::min<std::uint64_t>(end, job_stream_piece_bytes);
        CB_TRY_ASSIGN(piece, output->read_bytes(begin, end - begin));
        const std::size_t last = piece.rfind('\n');
        if (last != std::string::npos) {
            end = begin + last + 1;
            break;
        }
        end = begin;
    }
    if (end != output->size_at_opening_) {
        if (::ftruncate(output->fd_.get(), static_cast<off_t>(end)) != 0) {
            return fail(error_from_errno(errno, "cut " + path.string()));
        }
        output->size_at_opening_ = end;
    }
    return output;
}

Result<void> JobOutput::append(std::string_view lines, std::uint64_t at) {
    const std::uint64_t begin = at;
    while (!lines.empty()) {
        const ssize_t written =
            ::pwrite(fd_.get(), lines.data(), lines.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            const Error error = error_from_errno(errno, "write a job's output");
            if (::ftruncate(fd_.get(), static_cast<off_t>(begin)) != 0) {
                return fail(error.in("the file cannot be cut again"));
            }
            return fail(error);
        }
        lines.remove_prefix(static_cast<std::size_t>(written));
        at += static_cast<std::uint64_t>(written);
    }
    return {};
}

Result<void> JobOutput::sync() {
    if (::fsync(fd_.get()) != 0) return fail(error_from_errno(errno, "keep a job's output"));
    return {};
}

Result<std::string> JobOutput::read_bytes(std::uint64_t from, std::size_t size) const {
    std::string bytes(size, '\0');
    std::size_t filled = 0;
    while (filled < size) {
        const ssize_t count = ::pread(fd_.get(), bytes.data() + filled, size - filled,
                                      static_cast<off_t>(from + filled));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(error_from_errno(errno, "read a job's output"));
        if (count == 0) return fail(ErrorCode::io, "a job's output became shorter");
        filled += static_cast<std::size_t>(count);
    }
    return bytes;
}

Result<std::string> JobOutput::read(std::uint64_t from, std::uint64_t end,
                                    std::size_t max_bytes) const {
    bool is_begin = from <= end;
    if (is_begin && from > 0) {
        CB_TRY_ASSIGN(before, read_bytes(from - 1, 1));
        is_begin = before == "\n";
    }
    if (!is_begin) {
        return fail(ErrorCode::invalid_argument, "the position is not one of this job's output",
                    "use 0, or the id of an event that its stream sent");
    }
    if (from == end) return std::string();
    CB_TRY_ASSIGN(bytes, read_bytes(from, std::min<std::uint64_t>(end - from, max_bytes)));
    std::size_t last = bytes.rfind('\n');
    while (last == std::string::npos) {  // a line longer than the piece
        const std::uint64_t at = from + bytes.size();
        if (at >= end) return fail(ErrorCode::io, "a job's output ends inside a line");
        CB_TRY_ASSIGN(more, read_bytes(at, std::min<std::uint64_t>(end - at, max_bytes)));
        const std::size_t found = more.find('\n');
        bytes += more;
        if (found != std::string::npos) last = bytes.size() - more.size() + found;
    }
    bytes.resize(last + 1);
    return bytes;
}

}  // namespace cellblock::gateway::jobs
