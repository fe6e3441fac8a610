// The rules of one stream, without its coroutines (stream_io.cc): queues, credit, ends.
#include "vm/link/stream_state.h"

#include <algorithm>
#include <utility>

#include "vm/link/codec.h"
#include "vm/link/link_core.h"

namespace cellblock::vm::link {
namespace {

// Credit goes back in quarters of the window: few frames, and the writer never runs dry.
constexpr std::size_t kCreditStep = kInitialWindow / 4;

}  // namespace

PartCursor::PartCursor(ByteView prefix, std::span<const ByteView> parts)
    : current_(prefix), rest_(parts), remaining_(prefix.size()) {
    for (const ByteView part : parts) remaining_ += part.size();
    next_part();
}

void PartCursor::next_part() {
    while (current_.empty() && !rest_.empty()) {
        current_ = rest_.front();
        rest_ = rest_.subspan(1);
    }
}

void PartCursor::skip(std::size_t count) {
    current_ = current_.subspan(count);
    remaining_ -= count;
    started_ = true;
    next_part();
}

void PartCursor::take(std::size_t count, Bytes& to) {
    while (count > 0) {
        const ByteView piece = current_.first(std::min(count, current_.size()));
        to.insert(to.end(), piece.begin(), piece.end());
        count -= piece.size();
        skip(piece.size());
    }
}

StreamState::StreamState(LinkCore* core, boost::asio::any_io_executor executor, std::uint32_t id,
                         StreamKind kind, std::string params)
    : core_(core),
      id_(id),
      kind_(kind),
      params_(std::move(params)),
      write_turn_(executor),
      can_write_(executor),
      can_read_(executor) {}

// --- sending -------------------------------------------------------------------------------------

bool StreamState::queue_some(PartCursor& cursor) {
    if (credit_ == 0 || !spooled_.empty() || !core_->has_room()) return false;
    const std::size_t bytes = std::min({credit_, kMaxPayload, cursor.remaining()});
    Bytes frame;
    frame.reserve(bytes + kFrameOverheadBytes);
    append_head(frame, FrameType::data, id_, bytes);
    cursor.take(bytes, frame);
    append_tail(frame);
    credit_ -= bytes;
    core_->add_buffered(frame.size());
    ready_.push_back(std::move(frame));
    core_->frame_ready(*this);
    return true;
}

bool StreamState::spool_some(PartCursor& cursor) {
    Spool& spool = core_->spool();
    if (core_->connected() || !spool.enabled()) return false;
    const ByteView piece = cursor.front().first(std::min(cursor.front().size(), kMaxPayload));
    const auto extent = spool.append(piece);
    if (!extent) return false;
    cursor.skip(piece.size());
    if (!spooled_.empty() && spooled_.back().offset + spooled_.back().bytes == extent->offset) {
        spooled_.back().bytes += extent->bytes;
    } else {
        spooled_.push_back(*extent);
    }
    if (credit_ > 0) core_->frame_ready(*this);  // only room was missing
    return true;
}

bool StreamState::has_frame() const {
    if (!ready_.empty()) return true;
    if (!spooled_.empty()) return credit_ > 0;
    return end_queued_ && !end_sent_;
}

Bytes StreamState::take_frame() {
    if (!ready_.empty()) {
        Bytes frame = std::move(ready_.front());
        ready_.pop_front();
        return frame;
    }
    Bytes frame;
    if (!spooled_.empty()) {
        frame = take_spooled();
    } else {
        end_sent_ = true;
        frame = encode_frame(FrameType::end, id_, {});
    }
    core_->add_buffered(frame.size());
    return frame;
}

Bytes StreamState::take_spooled() {
    Spool::Extent& extent = spooled_.front();
    const std::size_t bytes = std::min({extent.bytes, credit_, kMaxPayload});
    Bytes frame;
    frame.reserve(bytes + kFrameOverheadBytes);
    append_head(frame, FrameType::data, id_, bytes);
    if (!core_->spool().read(Spool::Extent(extent.offset, bytes), frame)) return {};
    append_tail(frame);
    credit_ -= bytes;
    extent.offset += bytes;
    extent.bytes -= bytes;
    if (extent.bytes == 0) spooled_.pop_front();
    core_->spool().release(bytes);
    if (spooled_.empty()) can_write_.notify_all();
    return frame;
}

bool StreamState::on_credit(std::uint32_t bytes) {
    // An honest reader never has more than one window outstanding.
    if (bytes == 0 || bytes > kInitialWindow || credit_ + bytes > kInitialWindow) return false;
    credit_ += bytes;
    if (has_frame()) core_->frame_ready(*this);
    can_write_.notify_all();
    return true;
}

void StreamState::drop_unsent() {
    for (const Bytes& frame : ready_) {
        if (core_) core_->drop_buffered(frame.size());
    }
    ready_.clear();
    for (const Spool::Extent& extent : spooled_) {
        if (core_) core_->spool().release(extent.bytes);
    }
    spooled_.clear();
}

// --- receiving -----------------------------------------------------------------------------------

bool StreamState::on_data(ByteView payload) {
    if (end_received_ || payload.empty() || payload.size() > window_) return false;
    window_ -= payload.size();
    if (discarding_) {
        consumed(payload.size());
        return true;
    }
    if (awaiting_message_ && inbox_.empty()) {
        // Straight into the message that the reader waits for.
        const auto part = payload.first(std::min(payload.size(), message_bytes_ - message_.size()));
        message_.insert(message_.end(), part.begin(), part.end());
        consumed(part.size());
        payload = payload.subspan(part.size());
        if (!payload.empty()) keep(payload);
        if (message_.size() == message_bytes_) can_read_.notify_all();
        return true;
    }
    keep(payload);
    can_read_.notify_all();
    return true;
}

void StreamState::keep(ByteView payload) {
    // Small frames share a buffer: a peer that sends single bytes must not cost a buffer for each.
    if (inbox_.empty() || inbox_.back().size() + payload.size() > kMaxPayload) {
        inbox_.emplace_back(payload.begin(), payload.end());
    } else {
        inbox_.back().insert(inbox_.back().end(), payload.begin(), payload.end());
    }
}

bool StreamState::on_end() {
    if (end_received_) return false;
    end_received_ = true;
    can_read_.notify_all();
    return true;
}

Bytes StreamState::take_chunk() {
    Bytes chunk = std::move(inbox_.front());
    inbox_.pop_front();
    if (inbox_offset_ > 0) {
        chunk.erase(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(inbox_offset_));
        inbox_offset_ = 0;
    }
    consumed(chunk.size());
    return chunk;
}

Result<bool> StreamState::advance_message(std::size_t max_bytes) {
    for (;;) {
        if (prefix_bytes_ == prefix_.size()) {
            if (message_bytes_ > max_bytes) {
                return fail(ErrorCode::too_large, "a message of " + std::to_string(message_bytes_) +
                                                      " bytes where at most " +
                                                      std::to_string(max_bytes) + " are allowed");
            }
            if (message_.size() == message_bytes_) return true;
        }
        if (inbox_.empty()) return false;
        const ByteView chunk = ByteView(inbox_.front()).subspan(inbox_offset_);
        std::size_t taken = 0;
        if (prefix_bytes_ < prefix_.size()) {
            taken = std::min(chunk.size(), prefix_.size() - prefix_bytes_);
            std::copy_n(chunk.begin(), taken, prefix_.begin() + prefix_bytes_);
            prefix_bytes_ += taken;
            message_bytes_ = load_le<std::uint32_t>(prefix_.data());
        } else {
            taken = std::min(chunk.size(), message_bytes_ - message_.size());
            message_.insert(message_.end(), chunk.begin(), chunk.begin() + taken);
        }
        inbox_offset_ += taken;
        if (inbox_offset_ == inbox_.front().size()) {
            inbox_.pop_front();
            inbox_offset_ = 0;
        }
        consumed(taken);
    }
}

Bytes StreamState::take_message() {
    prefix_bytes_ = 0;
    message_bytes_ = 0;
    return std::exchange(message_, Bytes());
}

void StreamState::consumed(std::size_t bytes) {
    unreturned_ += bytes;
    if (!core_ || end_received_ || unreturned_ < kCreditStep) return;
    window_ += unreturned_;
    core_->send_credit(*this, std::exchange(unreturned_, 0));
}

// --- ends ----------------------------------------------------------------------------------------

void StreamState::fail_locally(const Error& error) {
    error_ = error;
    drop_unsent();
    can_read_.notify_all();
    can_write_.notify_all();
    if (core_) core_->room().notify_all();
}

void StreamState::on_reset(Error error) {
    fail_locally(error);
}

void StreamState::on_link_gone(const Error& error) {
    core_ = nullptr;
    fail_locally(error);
}

void StreamState::reset(Error reason) {
    if (error_ || (end_queued_ && end_received_)) return;
    fail_locally(reason);
    inbox_.clear();
    inbox_offset_ = 0;
    message_.clear();
    if (core_) core_->send_reset(*this, reason);
}

void StreamState::abandon() {
    if (!core_ || error_ || (end_queued_ && end_received_)) return;
    Error reason(ErrorCode::cancelled, "the other end has no more use for this stream");
    if (!end_queued_ || end_sent_) {
        reset(std::move(reason));
        return;
    }
    // What was finished is still delivered; what comes back meanwhile is thrown away.
    discarding_ = true;
    inbox_.clear();
    inbox_offset_ = 0;
}

}  // namespace cellblock::vm::link
