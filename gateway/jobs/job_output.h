// The lines of a job's output on disk, appended while it runs and read by whoever follows it.
//
// A position is the number of bytes before a line: what a reader has, it names by the position
// behind it, and goes on there at any time. Owner: the Job (shared_ptr: readers may outlive it).
// Blocking calls, each from a worker; one writer at a time; readers run beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

namespace cellblock::gateway::jobs {

class JobOutput {
  public:
    // A new file, or the one that an earlier gateway wrote: cut behind its last whole line.
    static Result<std::shared_ptr<JobOutput>> open(const std::filesystem::path& path);

    // Whole lines, each with its end. disk_full leaves what was there before.
    Result<void> append(std::string_view lines, std::uint64_t at);
    Result<void> sync();

    std::uint64_t size_at_opening() const { return size_at_opening_; }
    // Whole lines from `from` (a line's beginning) to `end` (a line's end) at the most: as many as
    // fit `max_bytes`, but at least one. invalid_argument when `from` is no line's beginning.
    Result<std::string> read(std::uint64_t from, std::uint64_t end, std::size_t max_bytes) const;

  private:
    JobOutput(Fd fd, std::uint64_t size) : fd_(std::move(fd)), size_at_opening_(size) {}
    Result<std::string> read_bytes(std::uint64_t from, std::size_t size) const;

    Fd fd_;
    std::uint64_t size_at_opening_;
};

}  // namespace cellblock::gateway::jobs
