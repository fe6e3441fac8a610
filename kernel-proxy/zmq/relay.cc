#include "kernel-proxy/zmq/relay.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ids.h"
#include "base/limits.h"
#include "base/log.h"
#include "kernel-proxy/v1_codec.h"

namespace cellblock::kernel_proxy::zmq_door {
namespace {

// Messages of the gateway taken before clients get their turn.
constexpr int publish_burst = 64;

std::optional<Channel> channel_of(std::string_view name) {
    for (const Channel channel :
         {Channel::shell, Channel::control, Channel::stdin_, Channel::iopub}) {
        if (name == vm::link::to_string(channel)) return channel;
    }
    return std::nullopt;
}

bool is_answered_here(const ClientRequest& request) {
    if (request.channel == Channel::stdin_) return false;
    return request.routing.msg_type == "interrupt_request" ||
           request.routing.msg_type == "shutdown_request";
}

std::string text_of(const nl::json& object, const char* field) {
    const auto at = object.find(field);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

nl::json error_content(const Error& error) {
    return {{"status", "error"},
            {"ename", to_string(error.code)},
            {"evalue", error.text()},
            {"traceback", nl::json::array()}};
}

}  // namespace

Relay::Relay(Server& server, Upstream& upstream, std::string kernel_id, KernelCalls calls)
    : server_(server),
      upstream_(upstream),
      kernel_id_(std::move(kernel_id)),
      calls_(std::move(calls)),
      connection_(upstream.connection()),
      session_(new_uuid()) {
    server_.on_request([this](const ClientRequest& request) { take_request(request); });
    server_.accept_while(
        [this] { return upstream_.waiting_bytes() < limits::zmq_upstream_waiting_max_bytes; });
    server_.register_shell_listener(
        [this](const xeus::xmessage& request) { answer(Channel::shell, request); });
    server_.register_control_listener(
        [this](const xeus::xmessage& request) { answer(Channel::control, request); });
    watch_upstream();
}

void Relay::watch_upstream() {
    Watch watch;
    watch.descriptor = [this] { return upstream_.descriptor(); };
    // What subscribers have no room for is not read: the gateway paces the kernel.
    watch.events = [this]() -> short {
        const int in = server_.can_publish() ? ZMQ_POLLIN : 0;
        return static_cast<short>(in | (upstream_.wants_to_write() ? ZMQ_POLLOUT : 0));
    };
    watch.deadline = [this] {
        if (!server_.can_publish()) return Deadline::max();
        return more_upstream_ ? std::chrono::steady_clock::now() : upstream_.next_check();
    };
    watch.ready = [this] { read_upstream(); };
    server_.watch(std::move(watch));
}

End Relay::run() {
    const nl::json nothing = nl::json::object();
    if (!end_) {
        server_.start(xeus::xpub_message("kernel." + kernel_id_ + ".status",
                                         xeus::make_header("status", "cellblock", session_),
                                         nothing, nothing, {{"execution_state", "starting"}}, {}));
    }
    return end_.value_or(End());
}

void Relay::end(EndReason reason, std::string text) {
    if (end_) return;
    end_ = End(reason, std::move(text));
    if (reason == EndReason::kernel_gone || reason == EndReason::gateway_gone) {
        publish_made("status", nl::json::object(), {{"execution_state", "dead"}});
    }
    server_.stop();
}

// --- from clients ------------------------------------------------------------------------------

void Relay::take_request(const ClientRequest& request) {
    if (end_) return;
    if (is_answered_here(request)) {
        if (!server_.notify(request)) {
            log::warning("kernel_client_message_refused", {{"error", "a part of it is no JSON"}});
        }
        return;
    }
    if (request.channel != Channel::stdin_) {
        askers_.add(request.routing.msg_id, request.wire.identities);
    }
    const std::string_view channel = vm::link::to_string(request.channel);
    Bytes message = encode_v1_head(channel, request.wire.frames);
    for (const ByteView frame : request.wire.frames) {
        message.insert(message.end(), frame.begin(), frame.end());
    }
    const std::array<ByteView, 1> parts = {message};
    const auto sent = upstream_.send(parts);
    unheard_.add(request.channel, request.routing.msg_id, std::move(message));
    if (!sent) end(EndReason::gateway_gone, sent.error().text());
}

void Relay::answer(Channel channel, const xeus::xmessage& request) {
    const bool is_shutdown = text_of(request.header(), "msg_type") == "shutdown_request";
    const std::string_view reply_type = is_shutdown ? "shutdown_reply" : "interrupt_reply";
    const nl::json& parent = request.header();
    publish_made("status", parent, {{"execution_state", "busy"}});
    const nl::json content = outcome_of(request, is_shutdown);
    // Other clients of the kernel hear of its end there.
    if (is_shutdown) publish_made(reply_type, parent, content);
    publish_made("status", parent, {{"execution_state", "idle"}});
    xeus::xmessage reply(request.identities(),
                         xeus::make_header(std::string(reply_type), "cellblock", session_), parent,
                         nl::json::object(), content, {});
    if (channel == Channel::shell) {
        server_.send_shell(std::move(reply));
    } else {
        server_.send_control(std::move(reply));
    }
}

nl::json Relay::outcome_of(const xeus::xmessage& request, bool is_shutdown) {
    if (!is_shutdown) {
        const auto sent = calls_.interrupt();
        return sent ? nl::json{{"status", "ok"}} : error_content(sent.error());
    }
    const auto asked = request.content().find("restart");
    const bool restart = asked != request.content().end() && *asked == true;
    if (restart && calls_.restart) {
        const auto restarted = calls_.restart();
        if (!restarted) return error_content(restarted.error());
    } else {
        // The loop goes on to the end of this turn: the reply is sent.
        end(restart ? EndReason::handed_over : EndReason::shut_down, "a client asked for it");
    }
    return {{"status", "ok"}, {"restart", restart}};
}

void Relay::publish_made(std::string_view msg_type, const nl::json& parent,
                         const nl::json& content) {
    const std::string type(msg_type);
    server_.publish(xeus::xpub_message("kernel." + kernel_id_ + "." + type,
                                       xeus::make_header(type, "cellblock", session_), parent,
                                       nl::json::object(), content, {}),
                    xeus::channel::CONTROL);
}

// --- from the gateway --------------------------------------------------------------------------

void Relay::read_upstream() {
    if (const auto flushed = upstream_.flush(); !flushed) {
        return end(EndReason::gateway_gone, flushed.error().text());
    }
    more_upstream_ = true;
    for (int i = 0; i < publish_burst && server_.can_publish() && !end_; ++i) {
        auto message = upstream_.receive();
        if (!message) {
            const bool kernel = message.error().code == ErrorCode::kernel_died;
            return end(kernel ? EndReason::kernel_gone : EndReason::gateway_gone,
                       message.error().text());
        }
        if (upstream_.connection() != connection_) {
            const auto sent = send_unheard();
            if (!sent) return end(EndReason::gateway_gone, sent.error().text());
        }
        if (!*message) {
            more_upstream_ = false;
            return;
        }
        pass_on(**message);
    }
}

// On a connection that breaks meanwhile nothing is lost: the next one gets all of it.
Result<void> Relay::send_unheard() {
    connection_ = upstream_.connection();
    for (const ByteView message : unheard_.messages()) {
        const std::array<ByteView, 1> parts = {message};
        CB_TRY(upstream_.send(parts));
    }
    return {};
}

void Relay::pass_on(ByteView bytes) {
    const auto message = decode_v1_message(bytes);
    const auto channel = message ? channel_of(message->channel) : std::nullopt;
    if (!channel) {
        log::warning("kernel_message_refused", {{"error", "the gateway's message is malformed"}});
        return;
    }
    const auto routing = read_routing(message->frames[0], message->frames[1]);
    if (!routing) {
        log::warning("kernel_message_refused", {{"error", routing.error().cause}});
        return;
    }
    if (!routing->session.empty()) session_ = routing->session;
    unheard_.heard(*channel, routing->parent_msg_id);
    if (!passed_on_.note(routing->msg_id)) return;
    if (*channel == Channel::iopub) {
        server_.publish_frames("kernel." + kernel_id_ + "." + routing->msg_type, message->frames);
        return;
    }
    const Identities* asker = askers_.find(routing->parent_msg_id);
    if (asker == nullptr) {
        log::warning("kernel_reply_without_asker", {{"msg_type", routing->msg_type}});
        return;
    }
    server_.send(*channel, *asker, message->frames);
    if (*channel != Channel::stdin_) askers_.forget(routing->parent_msg_id);
}

}  // namespace cellblock::kernel_proxy::zmq_door
