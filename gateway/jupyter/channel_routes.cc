// GET /api/kernels/{id}/channels: the WebSocket of a Jupyter client.
//
// Accepted at once, whatever the kernel does. Two coroutines: the handler's reads what the client
// sends and passes it to the kernel, a second one writes what the kernel says. A client that gave a
// session_id gets a ping before each message, whose pong tells how far it has come, so that it goes
// on there when it comes back.
#include <charconv>

#include "base/log.h"
#include "base/spawn.h"
#include "gateway/http/websocket.h"
#include "gateway/jupyter/door.h"
#include "gateway/jupyter/kernels.h"
#include "kernel-proxy/attachment.h"
#include "kernel-proxy/client_codec.h"

namespace cellblock::gateway::jupyter {

namespace asio = boost::asio;
using asio::awaitable;
using http::CloseReason;
using http::Opcode;
using http::Request;
using http::ResponseWriter;
using http::WebSocket;
using kernel_proxy::Attachment;
using kernel_proxy::ClientProtocol;
using kernel_proxy::EndReason;

namespace {

// A client that has stopped reading gets the reason only when it reads on: its socket is full, and
// the message that is half in it comes first. Meanwhile it costs that message.
constexpr std::chrono::seconds slow_client_grace{30};

std::string marker_of(kernel_proxy::Position position) {
    return "at " + std::to_string(position);
}

std::optional<kernel_proxy::Position> position_of(ByteView pong) {
    std::string_view text = as_text(pong);
    if (!text.starts_with("at ")) return std::nullopt;
    text.remove_prefix(3);
    kernel_proxy::Position position = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), position);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return position;
}

CloseReason close_reason(const Attachment::End& end) {
    switch (end.reason) {
        case EndReason::kernel_gone:
            return CloseReason(http::close_code::normal, end.text);
        case EndReason::replaced:
            return CloseReason(http::close_code::normal, end.text);
        case EndReason::too_slow:
            break;
    }
    return CloseReason(http::close_code::policy, end.text);
}

std::chrono::seconds grace(const Attachment::End& end) {
    return end.reason == EndReason::too_slow ? slow_client_grace : limits::websocket_close_timeout;
}

// One client's connection: both coroutines share it.
class ChannelsConnection {
  public:
    ChannelsConnection(asio::any_io_executor executor, std::shared_ptr<kernel_proxy::Kernel> kernel)
        : executor_(executor), kernel_(std::move(kernel)), wake_(executor) {}

    awaitable<Result<void>> run(Request& request, ResponseWriter& writer) {
        http::WebSocketOptions options;
        options.protocols = {kernel_proxy::v1_protocol_name};
        options.wake = [this] { wake_.notify_all(); };
        options.on_pong = [this](ByteView payload) { confirm(payload); };
        CB_CO_TRY_ASSIGN(socket, co_await WebSocket::accept(request, writer, std::move(options)));
        socket_ = std::move(socket);
        if (!socket_->protocol().empty()) protocol_ = ClientProtocol::v1;
        const std::string session = request.query().get("session_id").value_or("");
        auto wake = [this] { on_attachment(); };
        auto attached = co_await kernel_->channels().attach(session, std::move(wake));
        if (attached) {
            attachment_ = std::move(*attached);
        } else {
            socket_->begin_close(
                CloseReason(http::close_code::try_again_later, attached.error().text()));
        }
        writing_ = true;
        spawn_logged(executor_, write(), "kernel_client_writer", nullptr);
        co_await read();
        while (writing_) co_await wake_.wait();
        co_return Result<void>();
    }

  private:
    // There is something to write, or it has ended: a writer that is stuck is then cut off.
    void on_attachment() {
        wake_.notify_all();
        if (!attachment_ || !attachment_->ended()) return;
        const Attachment::End& end = *attachment_->ended();
        if (end.reason == EndReason::kernel_gone) return;
        socket_->begin_close(close_reason(end), grace(end));
    }

    void confirm(ByteView pong) {
        const auto position = position_of(pong);
        if (position && attachment_) attachment_->confirm(*position);
    }

    awaitable<void> read() {
        while (true) {
            auto message = co_await socket_->read();
            if (!message) co_return;
            if (!attachment_) continue;
            auto decoded =
                kernel_proxy::decode_client_message(protocol_, std::move(message->payload));
            if (!decoded) {
                log::warning("kernel_client_message_refused",
                             {{"kernel_id", kernel_->spec().id}, {"error", decoded.error().cause}});
                socket_->begin_close(
                    CloseReason(http::close_code::invalid_payload, decoded.error().cause));
                continue;
            }
            if (!*decoded) continue;  // nothing for a kernel
            const auto sent = co_await attachment_->send(**decoded);
            if (!sent) {
                log::warning("kernel_client_message_lost",
                             {{"kernel_id", kernel_->spec().id}, {"error", sent.error().text()}});
            }
        }
    }

    // Ends as soon as the socket does, or with our close frame.
    awaitable<void> write() {
        while (co_await socket_->keep_up()) {
            auto delivery = attachment_ ? attachment_->next() : std::nullopt;
            if (delivery) {
                // What could not be written shows in the reader too, which first reads out how far
                // the client has come.
                if (!co_await deliver(std::move(*delivery))) break;
            } else if (attachment_ && attachment_->ended() && !socket_->closing()) {
                const Attachment::End& end = *attachment_->ended();
                socket_->begin_close(close_reason(end), grace(end));
            } else {
                co_await wake_.wait_until(socket_->next_ping());
            }
        }
        writing_ = false;
        wake_.notify_all();
    }

    // This one and what waits behind it, as long as it is small. Whether more can be written.
    awaitable<bool> deliver(Attachment::Delivery first) {
        for (std::optional<Attachment::Delivery> next = std::move(first); next;
             next = attachment_->next()) {
            const auto encoded = kernel_proxy::encode_for_client(protocol_, *next->message);
            if (!encoded) {
                log::warning("kernel_message_unfit",
                             {{"kernel_id", kernel_->spec().id}, {"error", encoded.error().cause}});
                continue;
            }
            const bool text = encoded->kind == kernel_proxy::FrameKind::text;
            const Opcode opcode = text ? Opcode::text : Opcode::binary;
            const std::string marker =
                attachment_->returns() ? marker_of(next->position) : std::string();
            if (socket_->keep(opcode, encoded->parts, as_bytes(marker))) continue;
            auto sent = co_await socket_->flush();
            if (sent) sent = co_await socket_->write(opcode, encoded->parts, as_bytes(marker));
            co_return sent.has_value();
        }
        const auto sent = co_await socket_->flush();
        co_return sent.has_value();
    }

    asio::any_io_executor executor_;
    std::shared_ptr<kernel_proxy::Kernel> kernel_;
    ClientProtocol protocol_ = ClientProtocol::legacy;
    std::unique_ptr<WebSocket> socket_;
    std::unique_ptr<Attachment> attachment_;
    bool writing_ = false;
    Condition wake_;
};

awaitable<Result<void>> channels(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(kernel, find_kernel(door.services.sandboxes, request.param("id")));
    const auto executor = co_await asio::this_coro::executor;
    // Lives until both coroutines are done: run() waits for the writer.
    ChannelsConnection connection(executor, kernel.context->kernel);
    co_return co_await connection.run(request, writer);
}

}  // namespace

void add_channel_routes(http::Router& router, Door& door) {
    router.add("GET", "/api/kernels/{id}/channels", door.route_options(), bind(door, channels));
}

}  // namespace cellblock::gateway::jupyter
