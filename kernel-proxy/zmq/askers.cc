#include "kernel-proxy/zmq/askers.h"

#include "base/limits.h"

namespace cellblock::kernel_proxy::zmq_door {

void Askers::add(const std::string& msg_id, Identities asker) {
    const std::uint64_t number = next_number_++;
    table_[msg_id] = Entry{std::move(asker), number};
    order_.emplace_back(number, msg_id);
    while (order_.size() > limits::client_requests_open_max) {
        const auto& [oldest, id] = order_.front();
        const auto at = table_.find(id);
        if (at != table_.end() && at->second.number == oldest) table_.erase(at);
        order_.pop_front();
    }
}

const Identities* Askers::find(const std::string& msg_id) const {
    const auto at = table_.find(msg_id);
    return at == table_.end() ? nullptr : &at->second.asker;
}

}  // namespace cellblock::kernel_proxy::zmq_door
