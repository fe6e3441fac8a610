#include "gateway/http/connection.h"

#include <poll.h>

#include <exception>

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"
#include "gateway/http/cors.h"
#include "gateway/http/head_check.h"

namespace cellblock::gateway::http {

namespace asio = boost::asio;

Connection::Connection(std::shared_ptr<ServerCore> core, std::unique_ptr<AnyStream> stream,
                       std::string peer)
    : core_(std::move(core)),
      wire_(std::move(stream), core_->options.write_timeout),
      peer_(std::move(peer)) {
    core_->connections.insert(this);
    core_->observer.connections.Increment();
}

Connection::~Connection() {
    core_->connections.erase(this);
    core_->observer.connections.Decrement();
}

asio::awaitable<void> Connection::run(std::shared_ptr<Connection> self) {
    // Cancelling ends operations with an error code; it must not throw through handlers.
    co_await asio::this_coro::throw_if_cancelled(false);
    Connection& me = *self;
    const auto shaken = co_await me.wire_.handshake(std::chrono::steady_clock::now() +
                                                    me.core_->options.head_timeout);
    bool go_on = shaken.has_value();
    while (go_on && !me.core_->stopping) {
        RequestParser parser;
        auto head = co_await me.read_head(parser);
        if (!head) break;
        ++me.requests_;
        go_on = co_await me.serve(std::move(*head), std::move(parser));
    }
    if (me.must_linger_) {
        co_await me.linger();
    } else if (shaken) {
        co_await me.wire_.shutdown(std::chrono::steady_clock::now() + std::chrono::seconds(2));
    }
    me.wire_.close();
}

// Until a whole head is buffered. An empty buffer afterwards: the client ended the connection.
asio::awaitable<Result<void>> Connection::receive_head() {
    const ServerOptions& options = core_->options;
    const auto begin = std::chrono::steady_clock::now();
    Deadline deadline = begin + (requests_ == 0 ? options.head_timeout : options.idle_timeout);
    if (!wire_.buffered().empty()) deadline = begin + options.head_timeout;
    while (true) {
        // RFC 9112 2.2: an empty line before a request is skipped.
        while (wire_.buffered().substr(0, 2) == "\r\n") wire_.consume(2);
        const HeadEnd end = find_head_end(wire_.buffered());
        if (end.scan == HeadScan::complete) co_return Result<void>();
        if (end.scan == HeadScan::bare_newline) {
            co_return fail(ErrorCode::invalid_argument,
                           "the lines of the request head do not end in CR LF");
        }
        if (!wire_.buffered().empty() && wire_.buffered().front() == '\x16') {
            co_return fail(ErrorCode::invalid_argument,
                           "this port speaks plain HTTP, and a TLS handshake came",
                           "use http:// or start the gateway with a certificate");
        }
        if (wire_.full()) {
            co_return fail(ErrorCode::too_large, "the request head is larger than " +
                                                     std::to_string(limits::http_head_max_bytes) +
                                                     " bytes");
        }
        const bool was_empty = wire_.buffered().empty();
        const auto received = co_await wire_.fill(deadline);
        if (!received) co_return fail(received.error());
        if (*received == 0) {
            if (wire_.buffered().empty()) co_return Result<void>();
            co_return fail(ErrorCode::invalid_argument, "the request head is incomplete");
        }
        // The clock of a head starts with its first byte and is not reset by later ones.
        if (was_empty) deadline = std::chrono::steady_clock::now() + options.head_timeout;
    }
}

asio::awaitable<std::optional<RequestHead>> Connection::read_head(RequestParser& parser) {
    const auto received = co_await receive_head();
    if (!received) {
        const ErrorCode code = received.error().code;
        if (code == ErrorCode::too_large) co_await refuse_head(431, received.error().text());
        if (code == ErrorCode::invalid_argument) co_await refuse_head(400, received.error().text());
        if (code == ErrorCode::timeout && !wire_.buffered().empty()) {
            co_await refuse_head(408, "the request head did not arrive in time");
        }
        co_return std::nullopt;
    }
    if (wire_.buffered().empty()) co_return std::nullopt;
    const std::size_t size = find_head_end(wire_.buffered()).size;
    const std::string raw(wire_.buffered().substr(0, size));
    if (const auto checked = check_head(raw); !checked) {
        co_await refuse_head(checked.error().status, checked.error().message);
        co_return std::nullopt;
    }
    auto head = parser.parse_head(raw);
    if (!head) {
        co_await refuse_head(400, head.error().text());
        co_return std::nullopt;
    }
    wire_.consume(size);
    co_return std::move(*head);
}

asio::awaitable<void> Connection::refuse_head(int status, std::string message) {
    core_->observer.bad_head(peer_, status, message);
    const Error error(ErrorCode::invalid_argument, std::move(message));
    const ErrorBody body = error_body(ErrorStyle::control_plane, status, error);
    std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
    text += reason_phrase(status);
    text += "\r\nContent-Type: " + body.content_type +
            "\r\nContent-Length: " + std::to_string(body.text.size()) +
            "\r\nConnection: close\r\n\r\n" + body.text;
    const auto sent = co_await wire_.write(as_bytes(text));
    must_linger_ = sent.has_value();
}

asio::awaitable<bool> Connection::serve(RequestHead head, RequestParser parser) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t sent_before = wire_.bytes_sent();
    BodyReader body(wire_, std::move(parser), head, core_->options.body_timeout);
    auto target = parse_target(head.target);
    const bool keep_alive = head.keep_alive && !core_->stopping;
    const Error bad_target = target ? Error() : target.error();
    Request request(std::move(head), target ? std::move(*target) : Target(), peer_, body);
    ResponseWriter writer(wire_, request, core_->workers, keep_alive);
    Match match = target ? core_->router.match(request.method(), request.segments()) : Match();
    if (match.route != nullptr) body.set_max_bytes(match.route->options.body_max_bytes);
    if (target) {
        co_await answer(request, writer, match);
    } else {
        co_await send_error(request, writer, match, bad_target);
    }
    Outcome outcome{&request,
                    match.kind == MatchKind::found ? match.route : nullptr,
                    writer.status(),
                    writer.client_gone(),
                    !writer.finished() || writer.broken_off(),
                    std::chrono::steady_clock::now() - begin,
                    wire_.bytes_sent() - sent_before};
    core_->observer.request_done(outcome);
    if (!writer.finished() || writer.broken_off() || writer.client_gone()) co_return false;
    if (writer.upgraded()) co_return false;
    const bool drained = co_await drain(request, writer);
    co_return drained && !writer.must_close();
}

asio::awaitable<void> Connection::answer(Request& request, ResponseWriter& writer, Match& match) {
    const auto done = co_await dispatch(request, writer, match);
    if (writer.client_gone()) co_return;
    if (!done && !writer.started()) {
        co_await send_error(request, writer, match, done.error());
        co_return;
    }
    if (!done) {
        writer.abort();
        log::warning(
            "http_answer_broken_off",
            {{"route", match.route->pattern}, {"error", done.error().text()}, {"peer", peer_}});
        co_return;
    }
    if (!writer.started()) {
        const Error error(ErrorCode::internal, "the request was handled but not answered",
                          "this is a bug in the gateway: please report it");
        co_await send_error(request, writer, match, error);
    } else if (!writer.finished() && !writer.broken_off()) {
        co_await writer.finish();
    }
}

asio::awaitable<Result<void>> Connection::dispatch(Request& request, ResponseWriter& writer,
                                                   Match& match) {
    if (core_->guard) {
        if (auto site = core_->guard->check_site(request); !site) co_return site;
    }
    allow_origin(request, writer.headers());
    if (request.method() == "OPTIONS") co_return co_await answer_options(request, writer, match);
    if (match.kind == MatchKind::unknown_path) {
        co_return fail(ErrorCode::not_found, "there is nothing at " + request.path());
    }
    const Route& route = *match.route;
    if (core_->guard && route.options.access == Access::token) {
        auto tenant = core_->guard->authenticate(request);
        if (!tenant) co_return fail(std::move(tenant).error());
        request.set_tenant(std::move(*tenant));
    }
    if (match.kind == MatchKind::wrong_method) {
        writer.headers().set("Allow", match.allow + ", OPTIONS");
        co_return fail(ErrorCode::not_supported,
                       "method " + request.method() + " is not allowed here",
                       "allowed are: " + match.allow);
    }
    request.set_params(std::move(match.params));
    if (request.content_length().value_or(0) > route.options.body_max_bytes) {
        co_return fail(ErrorCode::too_large,
                       "the request body has " + std::to_string(*request.content_length()) +
                           " bytes, and at most " + std::to_string(route.options.body_max_bytes) +
                           " are taken here");
    }
    Readiness* const readiness = core_->options.readiness;
    if (readiness && route.options.needs == Needs::everything && !readiness->is_ready()) {
        CB_CO_TRY(co_await readiness->wait());
    }
    co_return co_await run_handler(request, writer, route);
}

asio::awaitable<Result<void>> Connection::run_handler(Request& request, ResponseWriter& writer,
                                                      const Route& route) {
    busy_ = Busy{&route, &writer, Deadline::min()};
    std::string thrown;
    try {
        auto done = co_await route.handler(request, writer);
        busy_.reset();
        co_return done;
    } catch (const std::exception& error) {
        thrown = error.what();
    }
    busy_.reset();
    log::error("http_handler_threw", {{"route", route.pattern}, {"error", thrown}});
    co_return fail(ErrorCode::internal, "the gateway failed inside: " + thrown,
                   "this is a bug in the gateway: please report it");
}

asio::awaitable<void> Connection::send_error(Request& request, ResponseWriter& writer,
                                             const Match& match, const Error& error) {
    const ErrorStyle style =
        match.route != nullptr ? match.route->options.style : core_->options.unknown_path_style;
    int status = status_of(style, error.code);
    if (match.kind == MatchKind::wrong_method) status = 405;
    if (request.body().failed()) {
        // The client's fault, not a gateway's behind us.
        if (error.code == ErrorCode::timeout) status = 408;
        if (error.code == ErrorCode::connection_lost) status = 400;
    }
    if (status == 429 || status == 503) {
        writer.headers().set("Retry-After", std::to_string(limits::http_retry_after.count()));
    }
    if (status == 401) writer.headers().set("WWW-Authenticate", "Bearer realm=\"cellblock\"");
    const bool body_left = !request.body().at_end();
    if (body_left &&
        (error.code == ErrorCode::too_large || status == 408 || status == 400 ||
         request.content_length().value_or(UINT64_MAX) > limits::http_drain_max_bytes)) {
        writer.close_after();
        must_linger_ = status != 408;
    }
    const ErrorBody body = error_body(style, status, error);
    const auto sent = co_await writer.send(status, body.content_type, body.text);
    if (!sent) must_linger_ = false;
    if (status >= 500 && error.code != ErrorCode::not_supported) {
        log::error("http_request_failed", {{"path", request.path()}, {"error", error.text()}});
    }
}

asio::awaitable<Result<void>> Connection::answer_options(Request& request, ResponseWriter& writer,
                                                         const Match& match) {
    if (match.kind == MatchKind::unknown_path && request.segments().size() > 0) {
        co_return fail(ErrorCode::not_found, "there is nothing at " + request.path());
    }
    const std::string methods =
        match.allow.empty() ? "GET, HEAD, POST, PUT, PATCH, DELETE" : match.allow;
    writer.headers().set("Allow", methods + ", OPTIONS");
    allow_preflight(request, methods, writer.headers());
    co_return co_await writer.send_empty(204);
}

// Reads what is left of a body, if that is little, so that the next request starts in the right
// place.
asio::awaitable<bool> Connection::drain(Request& request, const ResponseWriter& writer) {
    if (request.body().at_end()) co_return true;
    if (writer.must_close() || request.body().awaiting_continue()) {
        must_linger_ = must_linger_ || !request.body().failed();
        co_return false;
    }
    std::size_t dropped = 0;
    while (!request.body().at_end()) {
        const auto piece = co_await request.read_some();
        if (!piece) co_return false;
        dropped += piece->size();
        if (dropped > limits::http_drain_max_bytes) {
            must_linger_ = true;
            co_return false;
        }
    }
    co_return true;
}

// The answer is out, the client still sends: closing now would reset the connection and destroy the
// answer on its way. So our direction ends, and what comes is dropped for a while.
asio::awaitable<void> Connection::linger() {
    const Deadline deadline = std::chrono::steady_clock::now() + core_->options.linger_timeout;
    if (!core_->options.tls) co_await wire_.shutdown(deadline);
    std::size_t dropped = 0;
    while (!core_->stopping && dropped < limits::http_linger_max_bytes) {
        wire_.consume(wire_.buffered().size());
        const auto received = co_await wire_.fill(deadline);
        if (!received || *received == 0) co_return;
        dropped += *received;
    }
}

void Connection::enforce_deadline(Deadline now) {
    wire_.enforce_deadline(now);
    // Again and again: a cancellation that meets a handler between two waits is lost.
    if (busy_ && busy_->cancelled) cancel_.emit(asio::cancellation_type::terminal);
}

int Connection::watched_descriptor() {
    if (!busy_ || busy_->writer->client_gone() || busy_->writer->upgraded()) return -1;
    return wire_.native_handle();
}

void Connection::on_poll(short events, Deadline now) {
    if (!busy_) return;
    if ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
        client_gone();
        return;
    }
    if ((events & POLLRDHUP) == 0) return;
    if (busy_->route->options.on_disconnect == OnDisconnect::finish) return;
    if (now < busy_->next_probe) return;
    const bool first_sight = !busy_->half_closed;
    busy_->half_closed = true;
    const std::string probe = busy_->writer->probe_bytes();
    const ProbeResult result =
        probe.empty() ? ProbeResult::unsupported : wire_.probe(as_bytes(probe));
    if (result == ProbeResult::sent) {
        busy_->next_probe = now + limits::http_probe_interval;
        return;
    }
    // Unprobed, it gets one more round: a short answer may be on its way.
    if (result == ProbeResult::unsupported && first_sight) return;
    client_gone();
}

void Connection::client_gone() {
    if (busy_->writer->client_gone()) return;
    log::info("http_client_gone", {{"route", busy_->route->pattern}, {"peer", peer_}});
    busy_->writer->mark_client_gone();
    if (busy_->route->options.on_disconnect == OnDisconnect::cancel) cancel_handler();
}

void Connection::cancel_handler() {
    busy_->cancelled = true;
    cancel_.emit(asio::cancellation_type::terminal);
}

void Connection::end_when_idle() {
    if (busy_) {
        busy_->writer->close_after();
    } else {
        wire_.close();
    }
}

void Connection::cut_off() {
    if (busy_) {
        busy_->writer->mark_client_gone();
        cancel_handler();
    }
    wire_.close();
}

}  // namespace cellblock::gateway::http
