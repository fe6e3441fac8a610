// The state of a Link: the table of streams, numbering, what is unacknowledged, the current
// connection. Internal to vm/link; link.h is its face.
//
// link_core.cc has the protocol's rules, link_greeting.cc the handshake, link_run.cc moves bytes.
// Two queues feed the one writer: control frames (OPEN, RESET, CREDIT) first, then one DATA or END
// frame of each stream in turn. Frames are numbered when they are first sent, so the order of
// numbers is the order on the wire.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/bytes.h"
#include "vm/link/codec.h"
#include "vm/link/link.h"
#include "vm/link/link_image.h"
#include "vm/link/spool.h"
#include "vm/link/stream_state.h"
#include "vm/link/wait_list.h"

namespace cellblock::vm::link {

class LinkCore : public std::enable_shared_from_this<LinkCore> {
  public:
    LinkCore(boost::asio::any_io_executor executor, Role role, LinkOptions options);

    // --- Link's face ---
    static boost::asio::awaitable<Result<void>> run(std::shared_ptr<LinkCore> self, Fd fd);
    static boost::asio::awaitable<Result<void>> wait_connected(std::shared_ptr<LinkCore> self,
                                                               Deadline deadline);
    StreamPtr open(StreamKind kind, std::string params);
    void close(Error reason);
    bool connected() const;
    const std::optional<Error>& error() const { return error_; }
    LinkStats stats() const;
    void disconnect();
    // link_image.cc
    LinkImage image() const;
    void restore(const LinkImage& image);  // once, into a fresh core of the same role
    std::vector<StreamPtr> take_inherited();

    std::function<void(StreamPtr)> stream_handler;
    std::function<void()> session_handler;

    // --- for StreamState ---
    bool has_room() const { return buffered_bytes_ < options_.unacknowledged_max_bytes; }
    WaitList& room() { return room_; }
    Spool& spool() { return spool_; }
    void frame_ready(StreamState& stream);  // has_frame() became true
    void add_buffered(std::size_t frame_bytes);
    void drop_buffered(std::size_t frame_bytes);
    void send_credit(StreamState& stream, std::size_t bytes);
    // Tells the peer and takes the stream out of the table.
    void send_reset(StreamState& stream, const Error& reason);
    void forget(StreamState& stream);

  private:
    struct Connection;  // link_connection.h
    struct Unacknowledged {
        Bytes frame;
        bool is_control;
        Unacknowledged(Bytes frame_, bool is_control_)
            : frame(std::move(frame_)), is_control(is_control_) {}
    };

    // --- the protocol (link_core.cc); an error ends the connection ---
    Result<void> on_frame(Connection& connection, const FrameView& frame);
    Result<void> on_numbered(const FrameView& frame);
    Result<void> on_open(const FrameView& frame);
    Result<void> on_stream_frame(StreamState& stream, const FrameView& frame);
    Result<void> on_ack(std::uint64_t sequence, std::uint64_t highest_sent);
    void acknowledged_through(std::uint64_t sequence);
    void start_session(const SessionId& session, const Error& reason);
    void drop_streams(const Error& reason);
    void send_control(Bytes frame);
    void restore_stream(const StreamImage& image);
    bool is_known(std::uint32_t stream) const;
    bool is_peers(std::uint32_t stream) const;
    std::optional<Error> refuse_open(const std::string& params) const;
    std::size_t control_backlog() const { return control_.size() + unacknowledged_control_; }
    // The next frame to send on this connection, with its number; nullptr when there is none.
    const Bytes* next_frame();
    bool number_next_frame();
    std::optional<Bytes> next_control_frame();
    std::optional<Bytes> next_stream_frame();

    // --- the handshake (link_greeting.cc) ---
    // A greeting came. True: it is the one; false: a stale one, go on hunting.
    Result<bool> on_greeting(Connection& connection, const FrameView& frame);
    Result<bool> on_hello(Connection& connection, const Hello& hello);
    Result<bool> on_hello_reply(Connection& connection, const Hello& hello);
    bool resume(Connection& connection, std::uint64_t peers_last_received);
    void synchronised(Connection& connection);
    void greet(const std::shared_ptr<Connection>& connection);

    // --- the connection (link_run.cc) ---
    static boost::asio::awaitable<Error> read_pump(std::shared_ptr<LinkCore> self,
                                                   std::shared_ptr<Connection> connection);
    static boost::asio::awaitable<void> write_pump(std::shared_ptr<LinkCore> self,
                                                   std::shared_ptr<Connection> connection);
    Result<void> decode(const std::shared_ptr<Connection>& connection);
    bool fill(Connection& connection);
    void acknowledge_soon(const std::shared_ptr<Connection>& connection, std::size_t bytes);
    void wake_writer();
    void end_connection(std::shared_ptr<Connection> connection);
    Error after_connection(Error reason);

    boost::asio::any_io_executor executor_;
    const Role role_;
    LinkOptions options_;
    std::optional<Error> error_;
    std::shared_ptr<Connection> connection_;
    WaitList connected_;
    LinkStats stats_;

    SessionId session_{};
    bool session_known_ = false;  // host: a handshake succeeded; guest: session_ is set

    std::unordered_map<std::uint32_t, std::shared_ptr<StreamState>> streams_;
    std::vector<StreamPtr> inherited_;  // of an image, not taken yet
    std::uint32_t next_id_;
    std::uint32_t highest_peer_id_ = 0;
    std::size_t own_streams_ = 0;

    std::deque<Bytes> control_;                      // not numbered yet
    std::deque<std::shared_ptr<StreamState>> ring_;  // streams with a frame to send
    std::deque<Unacknowledged> unacknowledged_;      // numbers acknowledged_+1 ... last_numbered_
    std::size_t next_to_send_ = 0;                   // index into unacknowledged_
    std::size_t unacknowledged_control_ = 0;
    std::size_t buffered_bytes_ = 0;
    std::uint64_t last_numbered_ = 0;
    std::uint64_t acknowledged_ = 0;
    std::uint64_t last_received_ = 0;
    WaitList room_;
    Spool spool_;
};

}  // namespace cellblock::vm::link
