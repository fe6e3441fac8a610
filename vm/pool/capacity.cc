#include "vm/pool/capacity.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/limits.h"

namespace cellblock::vm {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

std::string mib(std::uint64_t bytes) {
    return std::to_string(bytes / limits::MiB) + " MiB";
}

}  // namespace

Slot& Slot::operator=(Slot&& other) noexcept {
    if (this != &other) {
        give_back();
        capacity_ = std::exchange(other.capacity_, nullptr);
        share_ = other.share_;
    }
    return *this;
}

void Slot::give_back() {
    if (const auto capacity = std::exchange(capacity_, nullptr)) capacity->give_back(share_);
}

void Slot::absorb(Slot other) {
    if (!capacity_) {
        *this = std::move(other);
        return;
    }
    if (!std::exchange(other.capacity_, nullptr)) return;
    share_.machines += other.share_.machines;
    share_.memory_bytes += other.share_.memory_bytes;
}

Capacity::Capacity(asio::any_io_executor executor, CapacityOptions options)
    : options_(std::move(options)), changed_(std::move(executor)) {}

std::optional<Error> Capacity::lack_of(const Share& share) const {
    if (used_.machines + share.machines > options_.machines_max) {
        return Error(ErrorCode::unavailable,
                     "all " + std::to_string(options_.machines_max) + " machines are in use",
                     "delete a sandbox, try again later, or raise sandboxes_max");
    }
    const std::uint64_t max = options_.memory_max_bytes;
    if (max > 0 && used_.memory_bytes + share.memory_bytes > max) {
        return Error(ErrorCode::unavailable,
                     mib(used_.memory_bytes) + " of " + mib(max) +
                         " of memory are promised to sandboxes: " + mib(share.memory_bytes) +
                         " more do not fit",
                     "delete a sandbox, ask for less memory, or raise memory_overcommit_percent");
    }
    if (options_.host_available_bytes && share.memory_bytes > 0) {
        const std::uint64_t available = options_.host_available_bytes();
        if (available < options_.host_reserve_bytes) {
            return Error(ErrorCode::unavailable,
                         "the host has " + mib(available) + " of memory left, and " +
                             mib(options_.host_reserve_bytes) + " stay its own",
                         "delete or pause a sandbox, or try again later");
        }
    }
    return std::nullopt;
}

Slot Capacity::take(const Share& share) {
    used_.machines += share.machines;
    used_.memory_bytes += share.memory_bytes;
    return Slot(shared_from_this(), share);
}

void Capacity::give_back(const Share& share) {
    used_.machines -= share.machines;
    used_.memory_bytes -= share.memory_bytes;
    changed_.notify_all();
}

std::optional<Slot> Capacity::try_reserve(Share share) {
    if (!line_.empty() || lack_of(share)) return std::nullopt;
    return take(share);
}

asio::awaitable<Result<Slot>> Capacity::reserve(Share share) {
    if (line_.empty() && !lack_of(share)) co_return take(share);
    if (line_.size() >= options_.waiting_max) {
        co_return fail(ErrorCode::too_many,
                       std::to_string(line_.size()) + " starts wait for room already",
                       "try again in some seconds");
    }
    const auto self = shared_from_this();
    // Leaves the line however this ends, and then the next one looks.
    struct Place {
        Capacity& capacity;
        std::list<const void*>::iterator at;
        explicit Place(Capacity& c) : capacity(c), at(c.line_.insert(c.line_.end(), this)) {}
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        ~Place() {
            capacity.line_.erase(at);
            capacity.changed_.notify_all();
        }
    } place(*this);
    const Deadline deadline = steady_clock::now() + options_.wait_max;
    while (true) {
        const bool first = line_.front() == &place;
        std::optional<Error> lack = lack_of(share);
        if (first && !lack) co_return take(share);
        const Deadline now = steady_clock::now();
        if (now >= deadline) {
            if (!lack) lack = Error(ErrorCode::unavailable, "others waited for room before");
            if (lack->advice.empty()) lack->advice = "try again in some seconds";
            co_return fail(std::move(*lack));
        }
        co_await changed_.wait_until(std::min(deadline, now + options_.look_again));
    }
}

}  // namespace cellblock::vm
