#include "vm/agent/guest_identity.h"

#include <fcntl.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/hex.h"
#include "base/ids.h"

namespace cellblock::vm::agent {
namespace {

constexpr std::size_t entropy_min_bytes = 64;
constexpr std::size_t entropy_max_bytes = 4096;

// struct rand_pool_info ends in a flexible array, hence the hand-made buffer of its two ints and
// the bytes.
std::vector<int> pool_info(ByteView entropy) {
    std::vector<int> info(2 + (entropy.size() + sizeof(int) - 1) / sizeof(int));
    info[0] = static_cast<int>(entropy.size() * 8);  // entropy_count, bits
    info[1] = static_cast<int>(entropy.size());      // buf_size, bytes
    std::memcpy(&info[2], entropy.data(), entropy.size());
    return info;
}

}  // namespace

Result<void> add_entropy(ByteView entropy) {
    if (entropy.size() < entropy_min_bytes || entropy.size() > entropy_max_bytes) {
        return fail(ErrorCode::invalid_argument,
                    "entropy has to be 64 to 4096 bytes, not " + std::to_string(entropy.size()));
    }
    CB_TRY_ASSIGN(device, open_file("/dev/urandom", O_RDWR));
    std::vector<int> info = pool_info(entropy);
    if (::ioctl(device.get(), RNDADDENTROPY, info.data()) != 0) {
        return fail(error_from_errno(errno, "add entropy to the guest's kernel"));
    }
    if (::ioctl(device.get(), RNDRESEEDCRNG) != 0) {
        return fail(error_from_errno(errno, "reseed the guest kernel's random generator"));
    }
    ::explicit_bzero(info.data(), info.size() * sizeof(int));
    return {};
}

Result<ClockStep> set_clock(std::int64_t target_ns, std::int64_t tolerance_ns) {
    constexpr std::int64_t second_ns = 1'000'000'000;
    if (target_ns < 1'000'000'000 * second_ns) {
        return fail(ErrorCode::invalid_argument, "wall_clock_ns is no time of this century");
    }
    ClockStep step;
    step.error_ns = wall_clock_ns() - target_ns;
    if (std::abs(step.error_ns) <= tolerance_ns) return step;
    timespec time{};
    time.tv_sec = static_cast<std::time_t>(target_ns / second_ns);
    time.tv_nsec = static_cast<long>(target_ns % second_ns);
    if (::clock_settime(CLOCK_REALTIME, &time) != 0) {
        return fail(error_from_errno(errno, "set the guest's clock"));
    }
    step.stepped_ns = -step.error_ns;
    return step;
}

Result<void> shift_clock(std::int64_t by_ns) {
    constexpr std::int64_t second_ns = 1'000'000'000;
    timex change{};
    change.modes = ADJ_SETOFFSET | ADJ_NANO;
    change.time.tv_sec = by_ns / second_ns;
    change.time.tv_usec = by_ns % second_ns;
    if (change.time.tv_usec < 0) {  // the call wants the fraction positive
        change.time.tv_sec -= 1;
        change.time.tv_usec += second_ns;
    }
    if (::clock_adjtime(CLOCK_REALTIME, &change) < 0) {
        return fail(error_from_errno(errno, "move the guest's clock"));
    }
    return {};
}

bool is_valid_hostname(std::string_view name) {
    if (name.empty() || name.size() > 63 || name.front() == '-' || name.back() == '-') return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-';
    });
}

Result<void> set_hostname(const std::string& name) {
    if (!is_valid_hostname(name)) {
        return fail(ErrorCode::invalid_argument, "hostname has to be 1 to 63 of [A-Za-z0-9-]");
    }
    if (::sethostname(name.data(), name.size()) != 0) {
        return fail(error_from_errno(errno, "set the guest's host name"));
    }
    CB_TRY(write_file_atomically("/etc/hostname", name + "\n"));
    return write_file_atomically(
        "/etc/hosts", "127.0.0.1 localhost\n127.0.1.1 " + name + "\n::1 localhost ip6-localhost\n");
}

Result<void> renew_machine_id() {
    std::array<unsigned char, 16> bytes;
    fill_random(bytes.data(), bytes.size());
    const std::string text = to_hex(std::as_bytes(std::span(bytes)));
    return write_file_atomically("/etc/machine-id", text + "\n", 0444);
}

}  // namespace cellblock::vm::agent
