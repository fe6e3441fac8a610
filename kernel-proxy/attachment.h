// One client's connection to a kernel: what it is to get next, and what it sends.
//
// A WebSocket's coroutines own it and take from it at the pace of their socket; it is fed by
// Channels. Dropping it detaches: the session's place is kept, so that a client which comes back
// under the same name gets what it missed. Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "kernel-proxy/client_codec.h"
#include "kernel-proxy/journal.h"

namespace cellblock::kernel_proxy {

class Channels;

// A session's place in the journal. Owner: Channels; it outlives its attachments.
struct Session {
    std::string name;
    bool returns = false;     // named by its client, who may come back
    Position next = 0;        // what it gets next
    Position confirmed = 0;   // it has what is before this: where it goes on when it comes back
    bool confirms = false;    // it has ever confirmed anything
    Position replay_end = 0;  // gaps before this are told, later ones mean a slow client
    class Attachment* attached = nullptr;
    Deadline left_at = Deadline::max();

    Session() = default;
};

enum class EndReason {
    kernel_gone,  // deleted, dead for good, or its microVM ended
    replaced,     // the same session connected again
    too_slow,     // it was so far behind that outputs were let go of
};

class Attachment {
  public:
    struct Delivery {
        SharedMessage message;
        Position position = 0;  // to be confirmed once the client has it

        Delivery(SharedMessage message_, Position position_)
            : message(std::move(message_)), position(position_) {}
    };
    struct End {
        EndReason reason;
        std::string text;
    };

    // By Channels::attach(). `wake`: there is something to take, or it has ended.
    Attachment(std::shared_ptr<Channels> channels, std::shared_ptr<Session> session,
               std::function<void()> wake);
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;
    ~Attachment();

    // The next message; std::nullopt: none for now, or none any more (see ended()).
    std::optional<Delivery> next();
    // The client has everything up to and including this position.
    void confirm(Position position);
    // Whether this client may come back, so that confirming is worth the while.
    bool returns() const { return session_->returns; }
    // To the kernel; waits while the way there is full. What the policy answers itself (nothing is
    // written) succeeds too.
    boost::asio::awaitable<Result<void>> send(const ClientMessage& message);

    // After kernel_gone what is waiting is still given out first.
    const std::optional<End>& ended() const { return end_; }

    // For Channels.
    void end(EndReason reason, std::string text);
    void wake() const;

  private:
    std::optional<Delivery> deliver_next();
    Delivery gap_notice(const SharedMessage& before);

    std::shared_ptr<Channels> channels_;
    std::shared_ptr<Session> session_;
    std::function<void()> wake_;
    std::optional<End> end_;
    std::size_t missed_ = 0;  // messages, not yet told
};

}  // namespace cellblock::kernel_proxy
