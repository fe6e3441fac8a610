// The rules of the protocol: streams, numbering, acknowledgement, and what a peer may not do.
#include "vm/link/link_core.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "vm/link/link_connection.h"

namespace cellblock::vm::link {
namespace {

// What a small frame costs in memory beyond its bytes.
constexpr std::size_t kFrameCost = 64;

tl::unexpected<Error> violation(std::string what) {
    return fail(ErrorCode::guest_protocol, "guest link: " + std::move(what));
}

}  // namespace

LinkCore::LinkCore(boost::asio::any_io_executor executor, Role role, LinkOptions options)
    : executor_(executor),
      role_(role),
      options_(std::move(options)),
      connected_(executor),
      next_id_(role == Role::host ? 1 : 2),
      room_(executor),
      spool_(std::move(options_.spool), options_.spool_max_bytes) {
    if (role_ == Role::host) fill_random(session_.data(), session_.size());
}

// --- streams -------------------------------------------------------------------------------------

std::optional<Error> LinkCore::refuse_open(const std::string& params) const {
    if (error_) return error_;
    if (params.size() >= limits::link_params_max_bytes) {
        return Error(ErrorCode::too_large, "the parameters of a stream are over " +
                                               std::to_string(limits::link_params_max_bytes - 1) +
                                               " bytes");
    }
    if (own_streams_ >= limits::link_streams_max) {
        return Error(ErrorCode::too_many, "too many streams are open to this sandbox",
                     "wait until some of its work has ended");
    }
    if (control_backlog() >= limits::link_control_backlog_max) {
        return Error(ErrorCode::unavailable, "the sandbox does not answer",
                     "it may be paused or overloaded; try again later");
    }
    if (next_id_ >= UINT32_MAX - 2) {
        return Error(ErrorCode::too_many, "this link has used up its stream numbers",
                     "start a new sandbox");
    }
    return std::nullopt;
}

StreamPtr LinkCore::open(StreamKind kind, std::string params) {
    if (const auto refused = refuse_open(params)) {
        auto state = std::make_shared<StreamState>(nullptr, executor_, 0, kind, std::move(params));
        state->on_link_gone(*refused);
        return std::make_shared<Stream>(std::move(state));
    }
    const std::uint32_t id = next_id_;
    next_id_ += 2;
    send_control(encode_open(id, kind, params));
    auto state = std::make_shared<StreamState>(this, executor_, id, kind, std::move(params));
    streams_.emplace(id, state);
    ++own_streams_;
    return std::make_shared<Stream>(std::move(state));
}

void LinkCore::forget(StreamState& stream) {
    if (!stream.attached()) return;
    stream.detach();
    if (!is_peers(stream.id())) --own_streams_;
    streams_.erase(stream.id());
}

void LinkCore::send_reset(StreamState& stream, const Error& reason) {
    if (!stream.attached()) return;
    send_control(encode_reset(stream.id(), reason));
    forget(stream);
}

void LinkCore::send_credit(StreamState& stream, std::size_t bytes) {
    send_control(encode_credit(stream.id(), static_cast<std::uint32_t>(bytes)));
}

void LinkCore::send_control(Bytes frame) {
    add_buffered(frame.size());
    control_.push_back(std::move(frame));
    wake_writer();
}

void LinkCore::frame_ready(StreamState& stream) {
    if (!stream.in_ring) {
        stream.in_ring = true;
        ring_.push_back(stream.shared_from_this());
    }
    wake_writer();
}

void LinkCore::add_buffered(std::size_t frame_bytes) {
    buffered_bytes_ += frame_bytes + kFrameCost;
}

void LinkCore::drop_buffered(std::size_t frame_bytes) {
    buffered_bytes_ -= frame_bytes + kFrameCost;
    if (has_room() && !room_.empty()) room_.notify_all();
}

bool LinkCore::is_peers(std::uint32_t stream) const {
    return (stream % 2 == 1) == (role_ == Role::guest);
}

bool LinkCore::is_known(std::uint32_t stream) const {
    return is_peers(stream) ? stream <= highest_peer_id_ : stream < next_id_;
}

// --- sending: frames get their number when they are first sent ----------------------------------

std::optional<Bytes> LinkCore::next_control_frame() {
    if (control_.empty()) return std::nullopt;
    Bytes frame = std::move(control_.front());
    control_.pop_front();
    return frame;
}

std::optional<Bytes> LinkCore::next_stream_frame() {
    while (!ring_.empty()) {
        const std::shared_ptr<StreamState> stream = std::move(ring_.front());
        ring_.pop_front();
        stream->in_ring = false;
        if (!stream->attached() || !stream->has_frame()) continue;
        Bytes frame = stream->take_frame();
        if (frame.empty()) {
            log::error("link_spool_unreadable", {{"stream", stream->id()}});
            stream->reset(Error(ErrorCode::io, "what was spooled for this stream is lost"));
            continue;
        }
        if (stream->has_frame()) {
            stream->in_ring = true;
            ring_.push_back(stream);
        } else if (stream->ended()) {
            forget(*stream);
        } else if (stream->wants_reset_after_end()) {
            send_reset(*stream, Error(ErrorCode::cancelled, "nobody reads this stream any more"));
        }
        return frame;
    }
    return std::nullopt;
}

bool LinkCore::number_next_frame() {
    auto frame = next_control_frame();
    const bool is_control = frame.has_value();
    if (!frame) frame = next_stream_frame();
    if (!frame) return false;
    set_sequence(*frame, ++last_numbered_);
    unacknowledged_.emplace_back(std::move(*frame), is_control);
    if (is_control) ++unacknowledged_control_;
    return true;
}

void LinkCore::acknowledged_through(std::uint64_t sequence) {
    while (acknowledged_ < sequence) {
        const Unacknowledged& oldest = unacknowledged_.front();
        const std::size_t bytes = oldest.frame.size();
        if (oldest.is_control) --unacknowledged_control_;
        unacknowledged_.pop_front();
        ++acknowledged_;
        if (next_to_send_ > 0) --next_to_send_;
        drop_buffered(bytes);
    }
}

// --- receiving -----------------------------------------------------------------------------------

Result<void> LinkCore::on_frame(Connection& connection, const FrameView& frame) {
    ++stats_.frames_received;
    switch (frame.type) {
        case FrameType::hello:
        case FrameType::hello_reply: {
            // A guest that lost its end of the port answers a repeated HELLO once more, and looks
            // for frames from there on: only a new connection puts both ends in step.
            const auto hello = decode_hello(frame.payload);
            if (hello && connection.nonce == hello->nonce) {
                return fail(ErrorCode::connection_lost, "the guest began its connection anew");
            }
            return violation("a greeting in the middle of a connection");
        }
        case FrameType::ack: {
            CB_TRY_ASSIGN(sequence, decode_ack(frame.payload));
            return on_ack(sequence, connection.sent_through);
        }
        default:
            break;
    }
    if (frame.sequence == 0) return violation("a frame without a number");
    if (frame.sequence <= last_received_) {
        ++stats_.duplicates_dropped;
        return {};
    }
    if (frame.sequence != last_received_ + 1) {
        return violation("frame " + std::to_string(frame.sequence) + " came after frame " +
                         std::to_string(last_received_));
    }
    last_received_ = frame.sequence;
    return on_numbered(frame);
}

Result<void> LinkCore::on_ack(std::uint64_t sequence, std::uint64_t highest_sent) {
    if (sequence > highest_sent) return violation("an acknowledgement of what was never sent");
    acknowledged_through(sequence);
    return {};
}

Result<void> LinkCore::on_numbered(const FrameView& frame) {
    if (frame.stream == 0) return violation("a stream's frame without a stream");
    if (frame.type == FrameType::open) return on_open(frame);
    const auto found = streams_.find(frame.stream);
    if (found == streams_.end()) {
        // It crossed our RESET or END; a stream that never was is another matter.
        if (is_known(frame.stream)) return {};
        return violation("a frame for stream " + std::to_string(frame.stream) +
                         ", which was never opened");
    }
    const std::shared_ptr<StreamState> stream = found->second;
    CB_TRY(on_stream_frame(*stream, frame));
    if (control_backlog() > limits::link_control_backlog_max * 2) {
        return violation("the other end acknowledges nothing");
    }
    return {};
}

Result<void> LinkCore::on_stream_frame(StreamState& stream, const FrameView& frame) {
    switch (frame.type) {
        case FrameType::data:
            if (!stream.on_data(frame.payload)) {
                return violation("stream " + std::to_string(stream.id()) +
                                 " got more data than it has credit for, or data after its end");
            }
            return {};
        case FrameType::end:
            if (!frame.payload.empty() || !stream.on_end()) {
                return violation("a second end of stream " + std::to_string(stream.id()));
            }
            if (stream.ended()) forget(stream);
            return {};
        case FrameType::credit: {
            CB_TRY_ASSIGN(bytes, decode_credit(frame.payload));
            if (!stream.on_credit(bytes)) {
                return violation("credit beyond the window of stream " +
                                 std::to_string(stream.id()));
            }
            return {};
        }
        case FrameType::reset: {
            CB_TRY_ASSIGN(error, decode_reset(frame.payload));
            stream.on_reset(std::move(error));
            forget(stream);
            return {};
        }
        default:
            return violation("a frame of an unknown type");
    }
}

Result<void> LinkCore::on_open(const FrameView& frame) {
    CB_TRY_ASSIGN(open, decode_open(frame.payload));
    if (!is_peers(frame.stream) || frame.stream <= highest_peer_id_) {
        return violation("stream " + std::to_string(frame.stream) +
                         " was opened out of order or twice");
    }
    if (streams_.size() - own_streams_ >= options_.peer_streams_max) {
        return violation("more than " + std::to_string(options_.peer_streams_max) +
                         " streams at once");
    }
    if (control_backlog() > limits::link_control_backlog_max * 2) {
        return violation("the other end acknowledges nothing");
    }
    highest_peer_id_ = frame.stream;
    auto state = std::make_shared<StreamState>(this, executor_, frame.stream, open.kind,
                                               std::string(open.params));
    streams_.emplace(frame.stream, state);
    auto stream = std::make_shared<Stream>(std::move(state));
    if (!stream_handler || to_string(stream->kind()) == "unknown") {
        stream->reset(Error(ErrorCode::not_supported, "this end does not serve such streams"));
        return {};
    }
    stream_handler(std::move(stream));
    return {};
}

// --- sessions and the end ------------------------------------------------------------------------

void LinkCore::drop_streams(const Error& reason) {
    auto streams = std::exchange(streams_, {});
    own_streams_ = 0;
    ring_.clear();
    control_.clear();
    if (connection_) connection_->out.clear();  // it points into unacknowledged_
    unacknowledged_.clear();
    next_to_send_ = 0;
    unacknowledged_control_ = 0;
    buffered_bytes_ = 0;
    if (spool_.live_bytes() > 0) spool_.release(spool_.live_bytes());
    for (const auto& [id, stream] : streams) stream->on_link_gone(reason);
    room_.notify_all();
}

void LinkCore::start_session(const SessionId& session, const Error& reason) {
    drop_streams(reason);
    session_ = session;
    next_id_ = role_ == Role::host ? 1 : 2;
    highest_peer_id_ = 0;
    last_numbered_ = 0;
    acknowledged_ = 0;
    last_received_ = 0;
}

void LinkCore::close(Error reason) {
    if (error_) return;
    const auto self = shared_from_this();
    error_ = std::move(reason);
    drop_streams(*error_);
    if (connection_) end_connection(connection_);
    connected_.notify_all();
}

LinkStats LinkCore::stats() const {
    LinkStats stats = stats_;
    stats.buffered_bytes = buffered_bytes_;
    stats.spooled_bytes = spool_.live_bytes();
    stats.streams_open = streams_.size();
    return stats;
}

}  // namespace cellblock::vm::link
