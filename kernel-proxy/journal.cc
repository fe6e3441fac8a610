#include "kernel-proxy/journal.h"

#include <algorithm>
#include <utility>

namespace cellblock::kernel_proxy {

void Journal::append(SharedMessage message, std::string recipient, Weight weight,
                     std::uint64_t source) {
    Entry entry;
    entry.bytes = message->size_bytes();
    entry.message = std::move(message);
    entry.recipient = std::move(recipient);
    entry.weight = weight;
    entry.offset = appended_bytes_;
    entry.source = source;
    bytes_ += entry.bytes;
    if (weight == Weight::essential) essential_bytes_ += entry.bytes;
    appended_bytes_ += entry.bytes;
    entries_.push_back(std::move(entry));
    make_room();
}

void Journal::forget_before(Position position) {
    while (begin_ < position && !entries_.empty()) {
        let_go(entries_.front());
        entries_.pop_front();
        ++begin_;
    }
}

void Journal::let_go(Entry& entry) {
    if (!entry.message) return;
    bytes_ -= entry.bytes;
    if (entry.weight == Weight::essential) essential_bytes_ -= entry.bytes;
    entry.bytes = 0;
    entry.message.reset();
}

// The newest entry always stays: one message of any size passes.
void Journal::make_room() {
    // What all readers have is forgotten, not lost: the scan for bulk begins behind it.
    Position scan = std::max(bulk_gone_before_, begin_);
    while (bytes_ > bytes_max_ && scan + 1 < end()) {
        Entry& oldest = entries_[scan - begin_];
        if (oldest.weight == Weight::bulk) {
            let_go(oldest);
            bulk_gone_before_ = scan + 1;
        }
        ++scan;
    }
    const auto too_much = [this] {
        return entries_.size() > entries_max_ || essential_bytes_ > bytes_max_ / 2;
    };
    while (entries_.size() > 1 && too_much()) {
        forget_before(begin_ + 1);
        bulk_gone_before_ = std::max(bulk_gone_before_, begin_);
    }
}

std::uint64_t Journal::lag_bytes(Position position) const {
    if (position >= end()) return 0;
    return appended_bytes_ - at(std::max(position, begin_)).offset;
}

}  // namespace cellblock::kernel_proxy
