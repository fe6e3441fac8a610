#include "vm/agent/retained_messages.h"

#include <algorithm>
#include <utility>

namespace cellblock::vm::agent {

void RetainedMessages::begin_anew() {
    entries_.clear();
    before_ = 0;
    sent_ = 0;
    bytes_ = 0;
}

bool RetainedMessages::resume_after(std::uint64_t position) {
    if (position < before_ || position > before_ + entries_.size()) return false;
    drop_through(position);
    sent_ = 0;
    return true;
}

void RetainedMessages::add(link::Channel channel, Multipart message) {
    entries_.push_back(std::make_shared<const Entry>(channel, std::move(message)));
    bytes_ += entries_.back()->bytes;
}

std::shared_ptr<const RetainedMessages::Entry> RetainedMessages::next() const {
    return sent_ < entries_.size() ? entries_[sent_] : nullptr;
}

void RetainedMessages::drop_next() {
    bytes_ -= entries_[sent_]->bytes;
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(sent_));
}

void RetainedMessages::acknowledge(std::uint64_t position) {
    drop_through(std::min<std::uint64_t>(position, before_ + sent_));
}

void RetainedMessages::drop_through(std::uint64_t position) {
    while (before_ < position && !entries_.empty()) {
        bytes_ -= entries_.front()->bytes;
        entries_.pop_front();
        ++before_;
        if (sent_ > 0) --sent_;
    }
}

}  // namespace cellblock::vm::agent
