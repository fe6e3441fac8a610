// Jupyter messages as the gateway reads and makes them.
//
// What a kernel sends stays bytes (vm::link::KernelMessage): passed on, never re-serialised. A
// frame is parsed only where a policy needs it, with a bound of its own; what a guest sends may be
// any bytes at all. Messaging: jupyter-client.readthedocs.io, "Messaging in Jupyter".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "vm/link/kernel_message.h"

namespace cellblock::kernel_proxy {

using vm::link::Channel;
using vm::link::KernelMessage;

// What routing needs of a message. Unknown fields stay in the frames.
struct Routing {
    std::string msg_type;
    std::string msg_id;
    std::string session;        // of the sender; clients may leave it empty
    std::string parent_msg_id;  // empty: no parent
    std::string parent_msg_type;

    Routing() = default;
};

// Of the two header frames; invalid_argument when one is no JSON object of sane size with string
// ids.
Result<Routing> read_routing(ByteView header, ByteView parent_header);
// The same of a guest's message: guest_protocol.
Result<Routing> read_routing(const KernelMessage& message);
Result<Json> read_content(const KernelMessage& message);
Result<Json> read_metadata(const KernelMessage& message);

// A request of ours; the msg_id is fresh.
struct Request {
    Channel channel = Channel::shell;
    std::string msg_id;
    std::vector<Bytes> frames;

    std::vector<ByteView> views() const { return {frames.begin(), frames.end()}; }
};

// The bytes of these frames as if a kernel had sent them. invalid_argument and too_large as the
// link's codec.
Result<KernelMessage> make_kernel_message(Channel channel, std::span<const ByteView> frames);

// `session` is the session id of this gateway's side.
Request make_request(Channel channel, std::string_view msg_type, const std::string& session,
                     const Json& content, const Json& metadata = Json::object());

}  // namespace cellblock::kernel_proxy
