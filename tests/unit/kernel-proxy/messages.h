// Messages as a kernel would send them, for tests.
#pragma once

#include <array>
#include <string_view>

#include "kernel-proxy/kernel_messages.h"

namespace cellblock::kernel_proxy::testing {

inline KernelMessage make_message(Channel channel, std::string_view header, std::string_view parent,
                                  std::string_view content) {
    const std::array<ByteView, 4> frames = {as_bytes(header), as_bytes(parent), as_bytes("{}"),
                                            as_bytes(content)};
    Bytes bytes = vm::link::encode_kernel_message_head(channel, frames).value();
    for (const ByteView frame : frames) bytes.insert(bytes.end(), frame.begin(), frame.end());
    return KernelMessage::decode(std::move(bytes)).value();
}

inline KernelMessage make_iopub(std::string_view msg_type, std::string_view content,
                                std::string_view parent_id = "p") {
    const Json header = {{"msg_type", msg_type}, {"msg_id", "m"}};
    const Json parent = {{"msg_id", parent_id}};
    return make_message(Channel::iopub, header.dump(), parent.dump(), content);
}

}  // namespace cellblock::kernel_proxy::testing
