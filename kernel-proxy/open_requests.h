// What clients asked of a kernel and is not answered yet: whose a reply is, and which reply waits
// for its `idle`.
//
// A reply on shell and the last outputs travel on two sockets, in any order; clients stop reading
// at one or at the other. So the reply is held until `idle` has come: outputs, idle, reply.
// Bounded: past limits::client_requests_open_max the oldest request is forgotten. Owner: Channels.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "kernel-proxy/journal.h"

namespace cellblock::kernel_proxy {

class OpenRequests {
  public:
    // A message that may go to its asker now.
    struct Ready {
        SharedMessage message;
        std::string session;
        std::uint64_t source;  // see Journal::Entry

        Ready(SharedMessage message_, std::string session_, std::uint64_t source_)
            : message(std::move(message_)), session(std::move(session_)), source(source_) {}
    };

    void add(const Routing& request, const std::string& session);
    // The session that asked; empty when nobody (or somebody else than a client) did.
    std::string owner(const std::string& msg_id) const;

    void set_busy(const std::string& msg_id);
    // `idle` of this request: the held reply, if there is one.
    std::optional<Ready> set_idle(const std::string& msg_id);
    // A reply on shell: itself, unless it must be held (until `hold_until`) or has no asker.
    std::optional<Ready> reply(const std::string& msg_id, SharedMessage message,
                               Deadline hold_until, std::uint64_t source = 0);
    // A reply on control, which is never held.
    std::optional<Ready> reply_at_once(const std::string& msg_id, SharedMessage message,
                                       std::uint64_t source = 0);
    // Of the held reply to this request; 0: none is held.
    std::uint64_t held_source(const std::string& msg_id) const;

    // Held replies whose time is over.
    std::vector<Ready> overdue(Deadline now);
    // When the next one is; nothing is held: std::nullopt.
    std::optional<Deadline> next_overdue();
    // A cell of a client runs, by the kernel's own word.
    bool cell_running() const { return cells_running_ > 0; }
    // The process that was asked is gone: the held replies; everything else is forgotten.
    std::vector<Ready> clear();

  private:
    struct Open {
        std::string session;
        bool is_cell = false;
        bool expects_reply = true;
        bool running = false;
        bool idle = false;
        SharedMessage held;
        std::uint64_t held_source = 0;
    };
    using Table = std::map<std::string, Open>;
    struct Hold {
        Deadline until;
        std::string msg_id;
    };

    void erase(Table::iterator at);
    void set_running(Open& open, bool running);
    bool is_held(const std::string& msg_id) const;

    Table table_;
    std::deque<std::string> order_;  // by arrival; may name what is gone
    std::deque<Hold> holds_;         // by time; may name what is gone
    std::size_t cells_running_ = 0;
};

}  // namespace cellblock::kernel_proxy
