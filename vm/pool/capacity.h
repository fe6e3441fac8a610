// What the pool may use at once, machines and memory, and who waits for some of it.
//
// Memory is counted as promised, not as used: a sandbox may come to use all of its limit. How much
// more may be promised than there is, is a setting; whatever was promised, nothing new starts while
// the host itself is short of memory. Who finds no room waits in line, for a bounded time and in a
// line of bounded length.
//
// Owner: the pool's state; a Slot keeps what it counts in alive. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "base/error.h"

namespace cellblock::vm {

struct CapacityOptions {
    std::size_t machines_max = 64;       // of all kinds: warm, starting, taken
    std::uint64_t memory_max_bytes = 0;  // that may be promised; 0: no bound
    // Bytes that the host can still give, now; null: not asked.
    std::function<std::uint64_t()> host_available_bytes;
    std::uint64_t host_reserve_bytes = 0;  // that stay the host's
    std::size_t waiting_max = 64;
    std::chrono::milliseconds wait_max{10'000};
    // Memory that others free is not told to us: how often a waiter looks again.
    std::chrono::milliseconds look_again{250};

    CapacityOptions() = default;
};

// A part of the capacity.
struct Share {
    std::size_t machines = 0;
    std::uint64_t memory_bytes = 0;
};

class Capacity;

// Gives its share back on destruction.
class Slot {
  public:
    Slot() = default;
    Slot(std::shared_ptr<Capacity> capacity, Share share)
        : capacity_(std::move(capacity)), share_(share) {}
    Slot(Slot&& other) noexcept
        : capacity_(std::exchange(other.capacity_, nullptr)), share_(other.share_) {}
    Slot& operator=(Slot&& other) noexcept;
    ~Slot() { give_back(); }
    void give_back();
    // This one's share becomes `other`'s too.
    void absorb(Slot other);

  private:
    std::shared_ptr<Capacity> capacity_;
    Share share_;
};

class Capacity : public std::enable_shared_from_this<Capacity> {
  public:
    Capacity(boost::asio::any_io_executor executor, CapacityOptions options);

    // Waits its turn. too_many: the line is full; unavailable: no room came in time.
    boost::asio::awaitable<Result<Slot>> reserve(Share share);
    // For what nobody waits for: not while somebody else does.
    std::optional<Slot> try_reserve(Share share);
    // For what is there already: counted, whatever the bounds are.
    Slot count(Share share) { return take(share); }

    const Share& used() const { return used_; }
    const CapacityOptions& options() const { return options_; }
    std::size_t waiting() const { return line_.size(); }

  private:
    friend class Slot;
    // Why there is no room; std::nullopt: there is.
    std::optional<Error> lack_of(const Share& share) const;
    Slot take(const Share& share);
    void give_back(const Share& share);

    CapacityOptions options_;
    Share used_;
    std::list<const void*> line_;  // whose turn it is stands in front
    Condition changed_;
};

}  // namespace cellblock::vm
