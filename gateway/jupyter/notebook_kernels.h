// The kernels that answer a notebook's requests, in microVMs of their own: always the same number,
// each with one request at a time. One that may not be as the notebook's cells left it (its process
// is another, a cell was stopped by force) is replaced by a new one, which runs those cells first.
//
// Owner: NotebookService. Loop thread only. Outlives its leases: the server ends first.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "gateway/jupyter/door.h"

namespace cellblock::gateway::jupyter {

class NotebookKernels : public std::enable_shared_from_this<NotebookKernels> {
  public:
    // A kernel, and the process that was set up: a crash brings another.
    struct Prepared {
        PlacedKernel kernel;
        std::int64_t pid;

        explicit Prepared(PlacedKernel kernel_);
        bool intact() const;
    };

    // One kernel, for one request. Given back when it goes; unless it was sound, it is replaced.
    class Lease {
      public:
        Lease(std::shared_ptr<NotebookKernels> owner, Prepared prepared)
            : owner_(std::move(owner)), prepared_(std::move(prepared)) {}
        Lease(Lease&& other) noexcept = default;
        Lease& operator=(Lease&&) = delete;
        ~Lease();

        kernel_proxy::Kernel& kernel() const { return prepared_.kernel.kernel(); }
        void mark_sound() { sound_ = true; }

      private:
        friend class NotebookKernels;

        std::shared_ptr<NotebookKernels> owner_;  // null: moved from
        Prepared prepared_;
        bool sound_ = false;
    };

    NotebookKernels(boost::asio::any_io_executor executor, Door& door)
        : executor_(executor), door_(door), changed_(executor) {}

    // `count` of them. After a failure some are left, which end with all sandboxes.
    boost::asio::awaitable<Result<void>> start(std::size_t count);
    // The one that has been free for longest; too_many when none is by `deadline`.
    boost::asio::awaitable<Result<Lease>> take(Deadline deadline);
    // No kernel is made any more.
    void stop() { stopping_ = true; }

  private:
    void give_back(Lease& lease);
    boost::asio::awaitable<void> replace(PlacedKernel old);

    boost::asio::any_io_executor executor_;
    Door& door_;
    std::deque<Prepared> free_;
    bool stopping_ = false;
    Condition changed_;
};

}  // namespace cellblock::gateway::jupyter
