// What Jupyter clients share of one kernel: its journal, their sessions, whose a reply is.
//
// The kernel's one permanent reader puts every message here once; each attached client reads the
// journal at its own pace. iopub goes to all, replies and questions to the asker. A client
// that is further behind than the journal reaches paces the kernel for a moment and is then ended,
// so that one slow client never holds the others.
//
// Owner: Kernel, with the attachments (shared_ptr: they outlive it by a turn of the loop). Loop
// thread only. After close() nothing is sent and nobody attaches.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/condition.h"
#include "kernel-proxy/activity.h"
#include "kernel-proxy/attachment.h"
#include "kernel-proxy/channels_image.h"
#include "kernel-proxy/open_requests.h"

namespace cellblock::kernel_proxy {

// What a client wants to happen once the process that it shuts down has ended.
enum class AfterShutdown { restart, gone };

class Channels : public std::enable_shared_from_this<Channels> {
  public:
    // What it needs of the kernel. The functions are let go of by close().
    struct KernelSide {
        std::string kernel_id;  // for the log
        // Waits for a process that hears: between two of them nobody does.
        std::function<boost::asio::awaitable<Result<void>>()> ready;
        std::function<boost::asio::awaitable<Result<void>>(const ClientMessage&)> send;
        std::function<void()> interrupt;
        std::function<void(AfterShutdown)> expect_exit;  // a client asked the process to end
        std::function<void()> asked;                     // a request is noted, and goes out next
        std::function<void()> moved_on;                  // the clients need less than before

        KernelSide() = default;
    };

    Channels(boost::asio::any_io_executor executor, KernelSide kernel);

    // --- clients ---
    // `session` is the client's name for itself; empty: it will not come back. A session that is
    // attached already is taken over: its old connection is ended and read out first.
    boost::asio::awaitable<Result<std::unique_ptr<Attachment>>> attach(std::string session,
                                                                       std::function<void()> wake);
    std::size_t connections() const;

    // --- what the kernel does, by its own word ---
    bool busy() const { return activity_.busy(); }
    // A cell that a client (not an Execution) asked for runs.
    bool client_cell_running() const { return requests_.cell_running(); }
    WallTime last_activity() const { return activity_.last(); }

    // --- the kernel's side ---
    // `source`: the message's number, for a gateway that goes on with the kernel.
    void take(SharedMessage message, const Routing& routing, std::uint64_t source = 0);
    // Before a message of that size is taken: waits for clients that are far behind, then ends
    // them.
    boost::asio::awaitable<void> wait_for_room(std::size_t bytes);
    // Tells all clients a state that no kernel can tell itself: "restarting", "dead".
    void announce(std::string_view execution_state);
    // The process is another one: what was asked of the old one is not answered any more.
    void new_process();
    // --- across gateways (channels_image.cc) ---
    // Of `received` messages: no client that may come back needs these any more.
    std::uint64_t settled_through(std::uint64_t received) const;
    ChannelsImage image(std::uint64_t base) const;
    // Once, before anything is taken: the messages after image.base come next.
    void restore(const ChannelsImage& image);

    // Clients get what waits for them, then end. Final.
    void close(const std::string& reason);

  private:
    friend class Attachment;
    struct Question {
        std::string request_id;
        std::string session;
    };

    // --- for Attachment ---
    const Journal& journal() const { return journal_; }
    boost::asio::awaitable<Result<void>> send(const ClientMessage& message,
                                              const std::string& session);
    void moved();
    void detach(Session& session, const Attachment* attachment);

    Result<std::shared_ptr<Session>> session_for(const std::string& name);
    void append(SharedMessage message, std::string recipient, Journal::Weight weight,
                std::uint64_t source);
    bool somebody_returns() const;
    void note_asked(const Routing& request, const std::string& session);
    void note_answered(const std::string& msg_id, std::uint64_t source);
    void append_reply(std::optional<OpenRequests::Ready> ready);
    void end_overrun_clients();
    void end_slow(Session& session);
    void forget_what_all_have();
    void take_iopub(SharedMessage message, const Routing& routing, std::uint64_t source);
    void take_question(SharedMessage message, const Routing& routing, std::uint64_t source);
    void hold(const Routing& routing, SharedMessage message, std::uint64_t source);
    boost::asio::awaitable<void> release_held();
    boost::asio::awaitable<void> watch_question();
    std::shared_ptr<Session> furthest_behind() const;
    std::uint64_t least_lag_bytes() const;
    static bool is_live(const Session& session);
    bool attached(const std::string& session) const;

    boost::asio::any_io_executor executor_;
    KernelSide kernel_;
    bool closed_ = false;
    Journal journal_;
    std::map<std::string, std::shared_ptr<Session>> sessions_;
    OpenRequests requests_;
    struct Asked {
        std::string msg_id;
        std::string msg_type;
        std::string session;
        std::uint64_t answered = 0;  // number of the reply; 0: none yet
    };
    std::deque<Asked> asked_;  // by clients, lately
    Activity activity_;
    std::string kernel_session_;  // as its messages have it
    std::optional<Question> question_;
    bool releasing_ = false;
    bool watching_ = false;
    Deadline last_moved_ = Deadline::min();
    Condition changed_;
};

}  // namespace cellblock::kernel_proxy
