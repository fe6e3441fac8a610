// All sandboxes of this gateway: made from the pool, found by id, listed, ended.
//
// Owner: `serve`. Loop thread only. A sandbox that goes by itself (timeout, VM death) leaves the
// table at once; its id is remembered as "gone" for a while, so that a late request is told why
// instead of 404.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "base/error.h"
#include "base/metrics.h"
#include "gateway/sandboxes/sandbox.h"
#include "vm/pool/pool.h"

namespace cellblock::gateway {

using SandboxPointer = std::shared_ptr<Sandbox>;

class SandboxManager {
  public:
    SandboxManager(boost::asio::any_io_executor executor, vm::Pool& pool,
                   metrics::Registry& metrics);

    // A running sandbox with a clean machine. On failure nothing is left behind.
    boost::asio::awaitable<Result<SandboxPointer>> create(SandboxSpec spec);

    // not_found for an id that never was; sandbox_gone with the reason for one that has ended.
    Result<SandboxPointer> find(const std::string& id) const;
    // The one named, or the caller's default one, made when it does not exist.
    boost::asio::awaitable<Result<SandboxPointer>> resolve(std::optional<std::string> id);
    // Oldest first.
    std::vector<SandboxPointer> list() const;

    boost::asio::awaitable<Result<void>> remove(const std::string& id);
    // At shutdown: every sandbox ends, all at once.
    boost::asio::awaitable<void> remove_all();

  private:
    struct Gone {
        std::string id;
        Error reason;
    };

    boost::asio::awaitable<Result<SandboxPointer>> default_sandbox();
    void forget(const std::string& id, const Error& reason);

    boost::asio::any_io_executor executor_;
    vm::Pool& pool_;
    metrics::Gauge& running_gauge_;
    metrics::Counter& created_counter_;
    metrics::Counter& failed_counter_;
    metrics::Histogram& start_seconds_;
    std::map<std::string, SandboxPointer> sandboxes_;
    std::deque<Gone> gone_;
    std::string default_id_;
    bool creating_default_ = false;
    Condition changed_;
};

}  // namespace cellblock::gateway
