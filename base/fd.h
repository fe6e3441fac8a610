// An owned file descriptor. Move-only; the destructor closes.
#pragma once

#include <unistd.h>

#include <utility>

namespace cellblock {

class Fd {
  public:
    Fd() = default;
    // Takes ownership of `fd`; -1 means none.
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    // Gives ownership away.
    int release() { return std::exchange(fd_, -1); }
    void reset() {
        // close() is not retried on EINTR: on Linux the descriptor is gone either way (close(2)).
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

  private:
    int fd_ = -1;
};

}  // namespace cellblock
