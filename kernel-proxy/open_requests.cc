#include "kernel-proxy/open_requests.h"

#include <utility>

namespace cellblock::kernel_proxy {

void OpenRequests::add(const Routing& request, const std::string& session) {
    const auto known = table_.find(request.msg_id);
    // A client that does not know whether it came through says it again.
    if (known != table_.end() && known->second.session == session) return;
    Open open;
    open.session = session;
    open.is_cell = request.msg_type == "execute_request";
    // comm_open, comm_msg and comm_close have none.
    open.expects_reply = request.msg_type.ends_with("_request");
    if (known != table_.end()) set_running(known->second, false);
    table_[request.msg_id] = std::move(open);
    order_.push_back(request.msg_id);
    while (order_.size() > limits::client_requests_open_max) {
        const auto oldest = table_.find(order_.front());
        if (oldest != table_.end()) erase(oldest);
        order_.pop_front();
    }
}

std::string OpenRequests::owner(const std::string& msg_id) const {
    const auto at = table_.find(msg_id);
    return at == table_.end() ? std::string() : at->second.session;
}

void OpenRequests::set_running(Open& open, bool running) {
    if (!open.is_cell || open.running == running) return;
    open.running = running;
    running ? ++cells_running_ : --cells_running_;
}

void OpenRequests::erase(Table::iterator at) {
    set_running(at->second, false);
    table_.erase(at);
    // Most requests end in the order in which they came.
    while (!order_.empty() && !table_.contains(order_.front())) order_.pop_front();
}

void OpenRequests::set_busy(const std::string& msg_id) {
    const auto at = table_.find(msg_id);
    if (at != table_.end() && !at->second.idle) set_running(at->second, true);
}

std::optional<OpenRequests::Ready> OpenRequests::set_idle(const std::string& msg_id) {
    const auto at = table_.find(msg_id);
    if (at == table_.end()) return std::nullopt;
    set_running(at->second, false);
    at->second.idle = true;
    std::optional<Ready> ready;
    if (at->second.held) {
        ready.emplace(std::move(at->second.held), at->second.session, at->second.held_source);
    }
    if (ready || !at->second.expects_reply) erase(at);
    return ready;
}

std::optional<OpenRequests::Ready> OpenRequests::reply(const std::string& msg_id,
                                                       SharedMessage message, Deadline hold_until,
                                                       std::uint64_t source) {
    const auto at = table_.find(msg_id);
    if (at == table_.end()) return std::nullopt;
    if (at->second.idle) {
        Ready ready(std::move(message), at->second.session, source);
        erase(at);
        return ready;
    }
    at->second.held = std::move(message);
    at->second.held_source = source;
    while (!holds_.empty() && !is_held(holds_.front().msg_id)) holds_.pop_front();
    holds_.push_back(Hold{hold_until, msg_id});
    return std::nullopt;
}

std::optional<OpenRequests::Ready> OpenRequests::reply_at_once(const std::string& msg_id,
                                                               SharedMessage message,
                                                               std::uint64_t source) {
    const auto at = table_.find(msg_id);
    if (at == table_.end()) return std::nullopt;
    Ready ready(std::move(message), at->second.session, source);
    at->second.expects_reply = false;
    if (at->second.idle) erase(at);
    return ready;
}

std::uint64_t OpenRequests::held_source(const std::string& msg_id) const {
    const auto at = table_.find(msg_id);
    return at != table_.end() && at->second.held ? at->second.held_source : 0;
}

bool OpenRequests::is_held(const std::string& msg_id) const {
    const auto at = table_.find(msg_id);
    return at != table_.end() && at->second.held != nullptr;
}

std::vector<OpenRequests::Ready> OpenRequests::overdue(Deadline now) {
    std::vector<Ready> ready;
    while (!holds_.empty() && holds_.front().until <= now) {
        const auto at = table_.find(holds_.front().msg_id);
        if (at != table_.end() && at->second.held) {
            ready.emplace_back(std::move(at->second.held), at->second.session,
                               at->second.held_source);
            erase(at);
        }
        holds_.pop_front();
    }
    return ready;
}

std::optional<Deadline> OpenRequests::next_overdue() {
    while (!holds_.empty() && !is_held(holds_.front().msg_id)) holds_.pop_front();
    if (holds_.empty()) return std::nullopt;
    return holds_.front().until;
}

std::vector<OpenRequests::Ready> OpenRequests::clear() {
    std::vector<Ready> ready = overdue(Deadline::max());
    table_.clear();
    order_.clear();
    holds_.clear();
    cells_running_ = 0;
    return ready;
}

}  // namespace cellblock::kernel_proxy
