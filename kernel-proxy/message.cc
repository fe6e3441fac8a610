#include "kernel-proxy/message.h"

#include <xeus/xmessage.hpp>

#include "base/limits.h"
#include "kernel-proxy/json_members.h"

namespace cellblock::kernel_proxy {
namespace {

Result<Json> parse_object(ByteView frame, std::size_t max_bytes, std::string_view what) {
    CB_TRY_ASSIGN(parsed, parse_json(as_text(frame), JsonLimits{max_bytes}, what));
    if (!parsed.is_object()) {
        return fail(ErrorCode::invalid_argument, std::string(what) + " is not a JSON object");
    }
    return parsed;
}

// Every message of every kernel comes by here: of a header only what routing needs becomes values.
class Header {
  public:
    static Result<Header> read(ByteView frame, std::string_view what) {
        if (frame.size() > limits::kernel_header_max_bytes) {
            return fail(ErrorCode::too_large,
                        std::string(what) + " has " + std::to_string(frame.size()) + " bytes");
        }
        auto members = split_json_object(as_text(frame));
        if (!members) return fail(std::move(members).error().in(std::string(what)));
        return Header(std::move(*members));
    }

    // std::nullopt: it is missing, or null.
    Result<std::optional<std::string>> text(std::string_view name) const {
        const std::string_view value = find_member(members_, name);
        if (value.empty() || value == "null") return std::optional<std::string>();
        if (value.front() == '"' && value.find('\\') == std::string_view::npos) {
            return std::optional<std::string>(value.substr(1, value.size() - 2));
        }
        CB_TRY_ASSIGN(parsed, parse_json(value, JsonLimits{limits::kernel_header_max_bytes}, name));
        if (parsed.is_string()) return std::optional<std::string>(parsed.get<std::string>());
        return fail(ErrorCode::invalid_argument,
                    "field '" + std::string(name) + "' must be a string");
    }

    Result<std::string> required_text(std::string_view name) const {
        CB_TRY_ASSIGN(found, text(name));
        if (found) return std::move(*found);
        return fail(ErrorCode::invalid_argument, "field '" + std::string(name) + "' is missing");
    }

  private:
    explicit Header(std::vector<JsonMember> members) : members_(std::move(members)) {}

    std::vector<JsonMember> members_;
};

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
    CB_TRY_ASSIGN(header, Header::read(header_frame, "a kernel message's header"));
    CB_TRY_ASSIGN(parent, Header::read(parent_frame, "a kernel message's parent header"));
    CB_TRY_ASSIGN(msg_type, header.required_text("msg_type"));
    CB_TRY_ASSIGN(msg_id, header.required_text("msg_id"));
    CB_TRY_ASSIGN(session, header.text("session"));
    CB_TRY_ASSIGN(parent_msg_id, parent.text("msg_id"));
    CB_TRY_ASSIGN(parent_msg_type, parent.text("msg_type"));
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
