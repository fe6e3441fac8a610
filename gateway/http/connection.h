// One client connection: heads in, handlers run, answers out, until either side ends it.
//
// A coroutine per connection (run), which also runs the handlers: one request at a time, pipelined
// ones wait in the socket. Loop thread only.
//
// A client that vanishes. While a handler runs, the server's sweep polls the socket (250 ms). A
// reset, or an end of both directions, is a vanished client: its coroutine is cancelled if its
// route says OnDisconnect::cancel, and wait_client_gone() resumes in any case. A mere FIN is
// ambiguous: `nc -N` sends one and goes on reading; close() sends one too. Routes with
// OnDisconnect::finish ignore it. For the others a probe tells: a few meaningless bytes ("100
// Continue" before the answer, a keepalive chunk in a stream) that a closed socket answers with a
// reset at once and that a half-closed client just reads. Where no probe can be sent (TLS, HTTP/1.0
// streams), FIN counts as vanished.
//
// Cancelling means: the pending asynchronous operation of the handler ends with operation_aborted,
// and every later call of its ResponseWriter fails. Awaiting does not throw.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "gateway/http/server_core.h"
#include "gateway/http/wire.h"

namespace cellblock::gateway::http {

class Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(std::shared_ptr<ServerCore> core, std::unique_ptr<AnyStream> stream,
               std::string peer);
    ~Connection();

    // Spawned by the server with cancel_slot().
    static boost::asio::awaitable<void> run(std::shared_ptr<Connection> self);
    boost::asio::cancellation_slot cancel_slot() { return cancel_.slot(); }

    // --- the server's sweep ---
    void enforce_deadline(Deadline now);
    // The descriptor to poll for hang-ups, or -1.
    int watched_descriptor();
    // What poll(2) found there.
    void on_poll(short events, Deadline now);

    // --- shutdown ---
    // Ends an idle connection; a busy one ends with its answer.
    void end_when_idle();
    // Ends a busy one now.
    void cut_off();

  private:
    struct Busy {
        const Route* route;
        ResponseWriter* writer;
        Deadline next_probe;
        bool half_closed = false;
        bool cancelled = false;
    };

    boost::asio::awaitable<std::optional<RequestHead>> read_head(RequestParser& parser);
    boost::asio::awaitable<Result<void>> receive_head();
    boost::asio::awaitable<void> refuse_head(int status, std::string message);
    // Whether the connection may go on.
    boost::asio::awaitable<bool> serve(RequestHead head, RequestParser parser);
    boost::asio::awaitable<void> answer(Request& request, ResponseWriter& writer, Match& match);
    boost::asio::awaitable<Result<void>> dispatch(Request& request, ResponseWriter& writer,
                                                  Match& match);
    boost::asio::awaitable<Result<void>> run_handler(Request& request, ResponseWriter& writer,
                                                     const Route& route);
    boost::asio::awaitable<void> send_error(Request& request, ResponseWriter& writer,
                                            const Match& match, const Error& error);
    boost::asio::awaitable<Result<void>> answer_options(Request& request, ResponseWriter& writer,
                                                        const Match& match);
    boost::asio::awaitable<bool> drain(Request& request, const ResponseWriter& writer);
    boost::asio::awaitable<void> linger();
    void client_gone();
    void cancel_handler();

    std::shared_ptr<ServerCore> core_;
    Wire wire_;
    const std::string peer_;
    boost::asio::cancellation_signal cancel_;
    std::optional<Busy> busy_;
    std::size_t requests_ = 0;
    bool must_linger_ = false;
};

}  // namespace cellblock::gateway::http
