#include "kernel-proxy/zmq/unheard.h"

#include <iterator>
#include <utility>

#include "base/limits.h"

namespace cellblock::kernel_proxy::zmq_door {

void Unheard::add(Channel channel, const std::string& msg_id, Bytes message) {
    if (const auto known = by_id_.find(msg_id); known != by_id_.end()) erase(known->second);
    bytes_ += message.size();
    entries_.push_back(Entry{channel, msg_id, std::move(message)});
    by_id_[msg_id] = std::prev(entries_.end());
    while (bytes_ > limits::zmq_upstream_waiting_max_bytes && entries_.size() > 1) {
        erase(entries_.begin());
    }
}

// To an answer of a question the kernel says nothing; it has had it when it asks on or is done.
void Unheard::heard(Channel channel, const std::string& parent_msg_id) {
    if (const auto known = by_id_.find(parent_msg_id); known != by_id_.end()) erase(known->second);
    if (channel != Channel::stdin_ && channel != Channel::shell) return;
    for (auto at = entries_.begin(); at != entries_.end();) {
        const auto entry = at++;
        if (entry->channel == Channel::stdin_) erase(entry);
    }
}

void Unheard::erase(Entries::iterator at) {
    bytes_ -= at->message.size();
    by_id_.erase(at->msg_id);
    entries_.erase(at);
}

std::vector<ByteView> Unheard::messages() const {
    std::vector<ByteView> messages;
    for (const Entry& entry : entries_) messages.emplace_back(entry.message);
    return messages;
}

}  // namespace cellblock::kernel_proxy::zmq_door
