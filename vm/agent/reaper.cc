#include "vm/agent/reaper.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include <boost/asio/post.hpp>

namespace cellblock::vm::agent {
namespace {

// Strangers that die before anyone asks for them: enough for a burst, few enough to search.
constexpr std::size_t unclaimed_max = 256;
constexpr std::chrono::seconds unclaimed_kept{30};

ExitStatus to_exit_status(int status) {
    ExitStatus result;
    if (WIFEXITED(status)) {
        result.exit_code = WEXITSTATUS(status);
    } else {
        result.signal = WTERMSIG(status);
    }
    return result;
}

}  // namespace

Reaper::Reaper(boost::asio::any_io_executor executor)
    : executor_(executor), signals_(executor, SIGCHLD) {}

void Reaper::start() {
    wait_for_signal();
    sweep();  // whoever died before the handler was there
}

void Reaper::stop() {
    signals_.cancel();
}

void Reaper::wait_for_signal() {
    signals_.async_wait([this](const boost::system::error_code& error, int) {
        if (error) return;
        wait_for_signal();
        sweep();
    });
}

// One SIGCHLD may stand for many children.
void Reaper::sweep() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
        ++reaped_;
        settle(pid, to_exit_status(status));
    }
}

void Reaper::settle(pid_t pid, ExitStatus status) {
    const auto found = watched_.find(pid);
    if (found != watched_.end()) {
        Handler handler = std::move(found->second);
        watched_.erase(found);
        handler(status);
        return;
    }
    if (unclaimed_.size() == unclaimed_max) unclaimed_.pop_front();
    unclaimed_.push_back({pid, status, std::chrono::steady_clock::now() + unclaimed_kept});
}

void Reaper::watch(pid_t pid, Handler handler) {
    const auto now = std::chrono::steady_clock::now();
    const auto found = std::find_if(
        unclaimed_.rbegin(), unclaimed_.rend(),
        [&](const Death& death) { return death.pid == pid && death.remembered_until > now; });
    if (found == unclaimed_.rend()) {
        watched_[pid] = std::move(handler);
        return;
    }
    const ExitStatus status = found->status;
    unclaimed_.erase(std::next(found).base());
    boost::asio::post(executor_, [handler = std::move(handler), status] { handler(status); });
}

void Reaper::forget(pid_t pid) {
    watched_.erase(pid);
}

}  // namespace cellblock::vm::agent
