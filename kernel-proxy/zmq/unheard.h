// What clients asked and the kernel has said nothing of yet: to be sent once more when the gateway
// may have died with it. The guest drops what it has had.
//
// Bounded: past limits::zmq_upstream_waiting_max_bytes the oldest ones go, which have been on their
// way for longest. One thread.
#pragma once

#include <list>
#include <string>
#include <unordered_map>

#include "base/bytes.h"
#include "kernel-proxy/message.h"

namespace cellblock::kernel_proxy::zmq_door {

class Unheard {
  public:
    // `message` as it went out.
    void add(Channel channel, const std::string& msg_id, Bytes message);
    // The kernel said something, as an answer to `parent_msg_id`.
    void heard(Channel channel, const std::string& parent_msg_id);
    // In the order in which they went out.
    std::vector<ByteView> messages() const;

  private:
    struct Entry {
        Channel channel;
        std::string msg_id;
        Bytes message;
    };
    using Entries = std::list<Entry>;
    void erase(Entries::iterator at);

    Entries entries_;
    std::unordered_map<std::string, Entries::iterator> by_id_;
    std::size_t bytes_ = 0;
};

}  // namespace cellblock::kernel_proxy::zmq_door
