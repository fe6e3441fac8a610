// Which client asked what: replies and questions of the kernel go there.
//
// Bounded: past limits::client_requests_open_max the oldest request is forgotten. One thread.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>

#include "kernel-proxy/zmq/wire.h"

namespace cellblock::kernel_proxy::zmq_door {

class Askers {
  public:
    void add(const std::string& msg_id, Identities asker);
    // nullptr: nobody, or it was long ago.
    const Identities* find(const std::string& msg_id) const;
    // It has its reply.
    void forget(const std::string& msg_id) { table_.erase(msg_id); }
    std::size_t size() const { return table_.size(); }

  private:
    struct Entry {
        Identities asker;
        std::uint64_t number = 0;
    };
    std::unordered_map<std::string, Entry> table_;
    // By arrival. May name what is gone, or was asked again since.
    std::deque<std::pair<std::uint64_t, std::string>> order_;
    std::uint64_t next_number_ = 0;
};

}  // namespace cellblock::kernel_proxy::zmq_door
