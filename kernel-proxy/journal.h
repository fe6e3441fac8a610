// What a kernel said lately, in order: every client reads it at its own pace and place.
//
// One entry a message, shared by all readers; positions count up from 0 and are never reused. When
// the entries have more than the limit's bytes, the oldest outputs are let go of and leave gaps,
// which readers are told of; what a client waits for (status, replies, errors) is small and stays
// longer: it may take half of the room, so that the other half is always there for what comes.
// Owner: Channels. Loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "kernel-proxy/message.h"

namespace cellblock::kernel_proxy {

using Position = std::uint64_t;
using SharedMessage = std::shared_ptr<const KernelMessage>;

class Journal {
  public:
    // Bulk goes first when room is needed.
    enum class Weight { bulk, essential };

    struct Entry {
        SharedMessage message;  // null: let go of
        std::string recipient;  // the session that it is for; empty: all
        Weight weight = Weight::bulk;
        std::size_t bytes = 0;
        std::uint64_t offset = 0;  // bytes appended before it
        // Of the kernel's messages, the first that the guest has to say again to make this entry
        // and what follows it; 0: it is not the kernel's.
        std::uint64_t source = 0;

        Entry() = default;
        bool is_for(const std::string& session) const {
            return recipient.empty() || recipient == session;
        }
    };

    Journal(std::size_t bytes_max, std::size_t entries_max)
        : bytes_max_(bytes_max), entries_max_(entries_max) {}

    void append(SharedMessage message, std::string recipient, Weight weight,
                std::uint64_t source = 0);
    // Nobody needs what is before `position`.
    void forget_before(Position position);

    Position begin() const { return begin_; }
    Position end() const { return begin_ + entries_.size(); }
    // Precondition: begin() <= position < end().
    const Entry& at(Position position) const { return entries_[position - begin_]; }
    std::size_t bytes() const { return bytes_; }
    // How far behind a reader at `position` is: bytes that came since, whoever they are for.
    std::uint64_t lag_bytes(Position position) const;
    // No bulk is left before this place: a reader behind it has missed something.
    Position bulk_gone_before() const { return bulk_gone_before_; }

  private:
    void make_room();
    void let_go(Entry& entry);

    const std::size_t bytes_max_;
    const std::size_t entries_max_;
    std::deque<Entry> entries_;
    Position begin_ = 0;
    Position bulk_gone_before_ = 0;
    std::size_t bytes_ = 0;
    std::size_t essential_bytes_ = 0;  // of these
    std::uint64_t appended_bytes_ = 0;
};

}  // namespace cellblock::kernel_proxy
