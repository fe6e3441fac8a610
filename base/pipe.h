// pipe2(2) with both ends owned and closed on exec.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/fd.h"

namespace cellblock {

struct Pipe {
    Fd read_end;
    Fd write_end;

    Pipe() = default;
};

inline Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(error_from_errno(errno, "make a pipe"));
    Pipe pipe;
    pipe.read_end = Fd(ends[0]);
    pipe.write_end = Fd(ends[1]);
    return pipe;
}

}  // namespace cellblock
