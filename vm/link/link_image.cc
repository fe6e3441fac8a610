// Taking one end of a link as values, and making an end from them (link_image.h).
#include "vm/link/link_image.h"

#include <utility>

#include "vm/link/link_core.h"

namespace cellblock::vm::link {

StreamImage StreamState::image() const {
    StreamImage image;
    image.id = id_;
    image.kind = kind_;
    image.params = params_;
    image.credit = credit_;
    image.ready.assign(ready_.begin(), ready_.end());
    image.end_queued = end_queued_;
    image.end_sent = end_sent_;
    image.half_written = half_written_;
    image.window = window_;
    image.unreturned = unreturned_;
    image.inbox.assign(inbox_.begin(), inbox_.end());
    image.inbox_offset = inbox_offset_;
    image.end_received = end_received_;
    image.discarding = discarding_;
    image.prefix = prefix_;
    image.prefix_bytes = prefix_bytes_;
    image.message_bytes = message_bytes_;
    image.message = message_;
    return image;
}

StreamState::StreamState(LinkCore* core, boost::asio::any_io_executor executor,
                         const StreamImage& image)
    : StreamState(core, std::move(executor), image.id, image.kind, image.params) {
    credit_ = image.credit;
    ready_.assign(image.ready.begin(), image.ready.end());
    end_queued_ = image.end_queued;
    end_sent_ = image.end_sent;
    window_ = image.window;
    unreturned_ = image.unreturned;
    inbox_.assign(image.inbox.begin(), image.inbox.end());
    inbox_offset_ = image.inbox_offset;
    end_received_ = image.end_received;
    discarding_ = image.discarding;
    prefix_ = image.prefix;
    prefix_bytes_ = image.prefix_bytes;
    message_bytes_ = image.message_bytes;
    message_ = image.message;
}

LinkImage LinkCore::image() const {
    LinkImage image;
    image.session = session_;
    image.session_known = session_known_;
    image.next_id = next_id_;
    image.highest_peer_id = highest_peer_id_;
    image.last_numbered = last_numbered_;
    image.acknowledged = acknowledged_;
    image.last_received = last_received_;
    for (const Unacknowledged& sent : unacknowledged_) {
        image.unacknowledged.emplace_back(sent.frame, sent.is_control);
    }
    image.control.assign(control_.begin(), control_.end());
    for (const auto& [id, stream] : streams_) image.streams.push_back(stream->image());
    return image;
}

void LinkCore::restore(const LinkImage& image) {
    session_ = image.session;
    session_known_ = image.session_known;
    next_id_ = image.next_id;
    highest_peer_id_ = image.highest_peer_id;
    last_numbered_ = image.last_numbered;
    acknowledged_ = image.acknowledged;
    last_received_ = image.last_received;
    for (const LinkImage::Frame& frame : image.unacknowledged) {
        unacknowledged_.emplace_back(frame.bytes, frame.is_control);
        if (frame.is_control) ++unacknowledged_control_;
        add_buffered(frame.bytes.size());
    }
    for (const Bytes& frame : image.control) send_control(frame);
    for (const StreamImage& stream : image.streams) restore_stream(stream);
}

void LinkCore::restore_stream(const StreamImage& image) {
    auto state = std::make_shared<StreamState>(this, executor_, image);
    streams_.emplace(image.id, state);
    if (!is_peers(image.id)) ++own_streams_;
    for (const Bytes& frame : image.ready) add_buffered(frame.size());
    if (state->has_frame()) frame_ready(*state);
    auto stream = std::make_shared<Stream>(std::move(state));
    if (image.half_written) {
        stream->reset(Error(ErrorCode::cancelled, "a message was cut when its sandbox was copied"));
        return;
    }
    inherited_.push_back(std::move(stream));
}

std::vector<StreamPtr> LinkCore::take_inherited() {
    return std::exchange(inherited_, {});
}

void LinkCore::disconnect() {
    if (connection_) end_connection(connection_);
}

}  // namespace cellblock::vm::link
