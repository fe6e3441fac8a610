#include "kernel-proxy/message.h"

#include <xeus/xmessage.hpp>

#include "base/limits.h"

namespace cellblock::kernel_proxy {
namespace {

Result<Json> parse_frame(ByteView frame, std::size_t max_bytes, std::string_view what) {
    auto parsed = parse_json(as_text(frame), JsonLimits{max_bytes}, what);
    if (!parsed) return fail(ErrorCode::guest_protocol, parsed.error().cause);
    if (!parsed->is_object()) {
        return fail(ErrorCode::guest_protocol, std::string(what) + " is not a JSON object");
    }
    return parsed;
}

Bytes to_frame(const Json& value) {
    return to_bytes(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

Result<Routing> read_routing(const KernelMessage& message) {
    CB_TRY_ASSIGN(header, parse_frame(message.header(), limits::kernel_header_max_bytes,
                                      "a kernel message's header"));
    CB_TRY_ASSIGN(parent, parse_frame(message.parent_header(), limits::kernel_header_max_bytes,
                                      "a kernel message's parent header"));
    CB_TRY_ASSIGN(msg_type, required_string(header, "msg_type"));
    CB_TRY_ASSIGN(msg_id, required_string(header, "msg_id"));
    CB_TRY_ASSIGN(parent_msg_id, optional_string(parent, "msg_id"));
    return Routing{std::move(msg_type), std::move(msg_id), parent_msg_id.value_or("")};
}

Result<Json> read_content(const KernelMessage& message) {
    return parse_frame(message.content(), limits::kernel_message_max_bytes,
                       "a kernel message's content");
}

Result<Json> read_metadata(const KernelMessage& message) {
    return parse_frame(message.metadata(), limits::kernel_message_max_bytes,
                       "a kernel message's metadata");
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
