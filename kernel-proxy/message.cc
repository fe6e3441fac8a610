#include "kernel-proxy/message.h"

#include <xeus/xmessage.hpp>

#include "base/limits.h"

namespace cellblock::kernel_proxy {
namespace {

Result<Json> parse_object(ByteView frame, std::size_t max_bytes, std::string_view what) {
    CB_TRY_ASSIGN(parsed, parse_json(as_text(frame), JsonLimits{max_bytes}, what));
    if (!parsed.is_object()) {
        return fail(ErrorCode::invalid_argument, std::string(what) + " is not a JSON object");
    }
    return parsed;
}

template <typename T>
Result<T> from_guest(Result<T> result) {
    if (!result) return fail(ErrorCode::guest_protocol, result.error().cause);
    return result;
}

Bytes to_frame(const Json& value) {
    return to_bytes(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

Result<Routing> read_routing(ByteView header_frame, ByteView parent_frame) {
    CB_TRY_ASSIGN(header, parse_object(header_frame, limits::kernel_header_max_bytes,
                                       "a kernel message's header"));
    CB_TRY_ASSIGN(parent, parse_object(parent_frame, limits::kernel_header_max_bytes,
                                       "a kernel message's parent header"));
    CB_TRY_ASSIGN(msg_type, required_string(header, "msg_type"));
    CB_TRY_ASSIGN(msg_id, required_string(header, "msg_id"));
    CB_TRY_ASSIGN(session, optional_string(header, "session"));
    CB_TRY_ASSIGN(parent_msg_id, optional_string(parent, "msg_id"));
    CB_TRY_ASSIGN(parent_msg_type, optional_string(parent, "msg_type"));
    Routing routing;
    routing.msg_type = std::move(msg_type);
    routing.msg_id = std::move(msg_id);
    routing.session = session.value_or("");
    routing.parent_msg_id = parent_msg_id.value_or("");
    routing.parent_msg_type = parent_msg_type.value_or("");
    return routing;
}

Result<Routing> read_routing(const KernelMessage& message) {
    return from_guest(read_routing(message.header(), message.parent_header()));
}

Result<Json> read_content(const KernelMessage& message) {
    return from_guest(parse_object(message.content(), limits::kernel_message_max_bytes,
                                   "a kernel message's content"));
}

Result<Json> read_metadata(const KernelMessage& message) {
    return from_guest(parse_object(message.metadata(), limits::kernel_message_max_bytes,
                                   "a kernel message's metadata"));
}

Result<KernelMessage> make_kernel_message(Channel channel, std::span<const ByteView> frames) {
    CB_TRY_ASSIGN(bytes, vm::link::encode_kernel_message_head(channel, frames));
    for (const ByteView frame : frames) bytes.insert(bytes.end(), frame.begin(), frame.end());
    return KernelMessage::decode(std::move(bytes));
}

Request make_request(Channel channel, std::string_view msg_type, const std::string& session,
                     const Json& content, const Json& metadata) {
    const Json header = xeus::make_header(std::string(msg_type), "cellblock", session);
    Request request;
    request.msg_id = header.at("msg_id").get<std::string>();
    request.channel = channel;
    request.frames = {to_frame(header), to_bytes("{}"), to_frame(metadata), to_frame(content)};
    return request;
}

}  // namespace cellblock::kernel_proxy
