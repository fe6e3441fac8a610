// What a Stream (the user's handle) and the LinkCore share: the queues, the credit and the waiting
// coroutines of one stream. Internal to vm/link.
//
// Invariant: core_ is set exactly while the stream is in the core's table. It leaves the table when
// both directions have ended, at a RESET and when the link closes; what was received stays
// readable.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "vm/link/link_image.h"
#include "vm/link/protocol.h"
#include "vm/link/spool.h"
#include "vm/link/wait_list.h"

namespace cellblock::vm::link {

class LinkCore;

// The bytes of several buffers one after the other, taken piece by piece.
class PartCursor {
  public:
    PartCursor(ByteView prefix, std::span<const ByteView> parts);
    std::size_t remaining() const { return remaining_; }
    bool started() const { return started_; }
    // The bytes of one buffer that come next; not empty while remaining() > 0.
    ByteView front() const { return current_; }
    void skip(std::size_t count);  // at most front().size()
    // Appends the next `count` bytes (at most remaining()).
    void take(std::size_t count, Bytes& to);

  private:
    void next_part();

    ByteView current_;
    std::span<const ByteView> rest_;
    std::size_t remaining_ = 0;
    bool started_ = false;
};

class StreamState : public std::enable_shared_from_this<StreamState> {
  public:
    StreamState(LinkCore* core, boost::asio::any_io_executor executor, std::uint32_t id,
                StreamKind kind, std::string params);
    // A copy of what another stream was.
    StreamState(LinkCore* core, boost::asio::any_io_executor executor, const StreamImage& image);
    StreamImage image() const;

    std::uint32_t id() const { return id_; }
    StreamKind kind() const { return kind_; }
    const std::string& params() const { return params_; }
    const std::optional<Error>& error() const { return error_; }

    // --- the user's side; the coroutines own the state that they work on ---
    static boost::asio::awaitable<Result<Bytes>> read_some(std::shared_ptr<StreamState> self);
    static boost::asio::awaitable<Result<std::optional<Bytes>>> read_message(
        std::shared_ptr<StreamState> self, std::size_t max_bytes);
    static boost::asio::awaitable<Result<void>> write(std::shared_ptr<StreamState> self,
                                                      ByteView data);
    static boost::asio::awaitable<Result<void>> write_message(std::shared_ptr<StreamState> self,
                                                              std::span<const ByteView> parts);
    static boost::asio::awaitable<Result<void>> write_message(std::shared_ptr<StreamState> self,
                                                              ByteView message);
    static boost::asio::awaitable<Result<void>> finish(std::shared_ptr<StreamState> self);
    void reset(Error reason);
    // The last StreamPtr went away.
    void abandon();

    // --- the core's side ---
    // Wake what may now go on: credit or room came, or the connection went (the spool may be used).
    void wake_writers() { can_write_.notify_all(); }
    // False: the peer sent more than its credit, or after its END.
    bool on_data(ByteView payload);
    bool on_end();
    bool on_credit(std::uint32_t bytes);
    void on_reset(Error error);
    // The link closed, or a new session began: core_ is gone.
    void on_link_gone(const Error& error);
    void detach() { core_ = nullptr; }
    bool attached() const { return core_ != nullptr; }

    // Sending: does the stream have a frame to send, and the next one (with no number yet). An
    // empty frame: the spool could not be read back.
    bool has_frame() const;
    Bytes take_frame();
    bool ended() const { return end_sent_ && end_received_; }
    bool wants_reset_after_end() const { return discarding_ && end_sent_ && !end_received_; }

    bool in_ring = false;  // the core's round-robin

  private:
    class Turn;
    class Reading;

    void pass_turn();
    static boost::asio::awaitable<Result<void>> write_parts(std::shared_ptr<StreamState> self,
                                                            ByteView prefix,
                                                            std::span<const ByteView> parts);
    bool queue_some(PartCursor& cursor);
    bool spool_some(PartCursor& cursor);
    Bytes take_spooled();
    void drop_unsent();
    void keep(ByteView payload);
    Bytes take_chunk();
    // Moves what is there of the current message; true when it is complete.
    Result<bool> advance_message(std::size_t max_bytes);
    Bytes take_message();
    void consumed(std::size_t bytes);
    void fail_locally(const Error& error);

    LinkCore* core_;
    const std::uint32_t id_;
    const StreamKind kind_;
    const std::string params_;
    std::optional<Error> error_;

    // Sending.
    std::size_t credit_ = kInitialWindow;
    std::deque<Bytes> ready_;  // whole DATA frames
    std::deque<Spool::Extent> spooled_;
    bool end_queued_ = false;
    bool end_sent_ = false;
    bool writing_ = false;
    bool half_written_ = false;  // the writer whose turn it is has queued a part of its message
    WaitList write_turn_;
    WaitList can_write_;

    // Receiving.
    std::size_t window_ = kInitialWindow;  // what the peer may still send
    std::size_t unreturned_ = 0;           // taken by the reader, not given back as credit yet
    std::deque<Bytes> inbox_;
    std::size_t inbox_offset_ = 0;  // into inbox_.front()
    bool end_received_ = false;
    bool discarding_ = false;  // nobody reads any more
    bool reading_ = false;
    bool awaiting_message_ = false;  // read_message() is suspended inside a message
    WaitList can_read_;
    // The message that read_message() is in: its length's bytes, then its own.
    std::array<std::byte, 4> prefix_{};
    std::size_t prefix_bytes_ = 0;
    std::size_t message_bytes_ = 0;
    Bytes message_;
};

}  // namespace cellblock::vm::link
