// The warm pool: clones that run already and have executed one cell, so that the first result costs
// a tenth of a clone's start.
//
// Rules, each learnt from a pool that lacked it: what is handed out has just answered a question;
// the number of machines is counted from those that live, never kept in step by hand; age is
// bounded and jittered; failed starts back off and a run of them opens a circuit breaker; a take()
// never waits for the refill, it starts a clone of its own; starts are few at a time, and those
// that somebody waits for come first; who finds no room waits in a line, of bounded length and for
// a bounded time (capacity.h).
//
// Owner: the gateway's root object. Loop thread only. Knows only Machine: the driver, the template
// and what a warm-up is come in as functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/limits.h"
#include "vm/machine/machine.h"
#include "vm/pool/capacity.h"

namespace cellblock::vm {

struct PoolOptions {
    std::size_t target = 1;  // warm machines to hold ready; 0: none
    CapacityOptions capacity;
    // What a machine costs beside the limit of the sandbox in it: its emulator, its page tables.
    std::uint64_t machine_overhead_bytes = limits::pool_machine_overhead_bytes;
    std::size_t concurrent_starts = limits::pool_concurrent_starts;
    std::size_t waiting_takes_max = 64;  // takes that wait for their turn to start a clone
    std::chrono::milliseconds age_max = limits::pool_age_max;
    std::chrono::milliseconds check_timeout = limits::pool_check_timeout;
    std::chrono::milliseconds backoff_min = limits::pool_backoff_min;
    std::chrono::milliseconds backoff_max = limits::pool_backoff_max;
    std::size_t breaker_failures = 5;  // failures in a row that open the circuit breaker

    PoolOptions() = default;
};

struct PoolStatus {
    std::size_t target = 0;
    std::size_t machines_max = 0;
    std::size_t warm = 0;      // ready to be taken
    std::size_t starting = 0;  // being started, for the pool or for a take
    std::size_t taken = 0;     // handed out and alive
    std::uint64_t hits = 0;    // takes served by a warm machine
    std::uint64_t misses = 0;  // takes that started a clone
    std::uint64_t refused = 0;
    std::size_t waiting = 0;             // takes that wait for room
    std::uint64_t memory_bytes = 0;      // promised to machines
    std::uint64_t memory_max_bytes = 0;  // that may be promised; 0: no bound
    std::uint64_t start_failures = 0;
    std::uint64_t check_failures = 0;  // warm machines that did not answer at hand-out
    std::uint64_t expired = 0;
    bool breaker_open = false;
    std::string last_failure;  // why the last start failed; empty after a success

    PoolStatus() = default;
};

// Runs the throw-away cell; an error throws the machine away.
using WarmUp = std::function<boost::asio::awaitable<Result<void>>(Machine&)>;

class Pool {
  public:
    Pool(boost::asio::any_io_executor executor, MachineStarter start, WarmUp warm_up,
         PoolOptions options);
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    // Drops the warm machines; taken ones are their owners'.
    ~Pool();

    // Begins to fill; without it every take starts a clone.
    void start();
    // A machine whose claim has succeeded. `too_many` or `unavailable` when there is no room, and
    // none came while it waited.
    boost::asio::awaitable<Result<std::unique_ptr<Machine>>> take(ClaimRequest request);
    // A machine that `start` starts, counted and given its turn like the pool's own. Whether and
    // how it is claimed is the caller's business, its sandbox's memory limit known already.
    boost::asio::awaitable<Result<std::unique_ptr<Machine>>> start_other(
        MachineStarter start, std::uint64_t memory_limit_bytes);
    // As start_other(), for one that runs already: it is counted, whatever the maximum is by now.
    boost::asio::awaitable<Result<std::unique_ptr<Machine>>> take_over(
        MachineStarter start, std::uint64_t memory_limit_bytes);
    // Stops refilling and ends the warm machines, one after the other, each in bounded time.
    boost::asio::awaitable<void> stop();
    // A new target; 0 lets the warm ones go.
    void set_target(std::size_t target);
    // Another template: warm machines of the old one are ended and replaced.
    void set_starter(MachineStarter start);
    PoolStatus status() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace cellblock::vm
