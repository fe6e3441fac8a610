// All kernels of the guest, by id. A kernel that died stays listed ("dead") until it is restarted
// or stopped, so that the host can do either. Owner: Agent. Loop thread only.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "vm/agent/kernel.h"

namespace cellblock::vm::agent {

class KernelTable {
  public:
    explicit KernelTable(KernelServices services);

    // What every kernel started from now on gets; a start's own values come on top.
    void set_sandbox(std::map<std::string, std::string> environment, std::string working_directory);

    boost::asio::awaitable<Result<Started>> start(std::string id, StartOptions options);
    boost::asio::awaitable<Result<Started>> restart(std::string id, StartOptions options);
    // Forgets it too. not_found for an unknown id.
    boost::asio::awaitable<Result<void>> stop(std::string id);
    Result<void> signal(const std::string& id, int signal_number);
    Result<void> attach(const std::string& id, link::StreamPtr stream,
                        std::optional<std::int64_t> after);
    Result<void> acknowledge(const std::string& id, std::uint64_t position);
    // Every running kernel in turn; the first failure ends it.
    boost::asio::awaitable<Result<void>> reseed_all();
    boost::asio::awaitable<Result<void>> run_silently(std::string id, std::string code,
                                                      Deadline deadline);
    Json list() const;
    // SIGKILL to all, at the end of a rootless agent.
    void kill_all();

  private:
    Result<std::shared_ptr<Kernel>> find(const std::string& id) const;
    StartOptions with_sandbox(StartOptions options) const;

    KernelServices services_;
    std::map<std::string, std::shared_ptr<Kernel>> kernels_;
    std::map<std::string, std::string> environment_;
    std::string working_directory_;
};

}  // namespace cellblock::vm::agent
