// Messages as a kernel would send them, for tests.
#pragma once

#include <string_view>
#include <vector>

#include "kernel-proxy/kernel_messages.h"

namespace cellblock::kernel_proxy::testing {

inline KernelMessage make_message(Channel channel, std::string_view header, std::string_view parent,
                                  std::string_view content,
                                  std::vector<std::string_view> buffers = {}) {
    std::vector<ByteView> frames = {as_bytes(header), as_bytes(parent), as_bytes("{}"),
                                    as_bytes(content)};
    for (const std::string_view buffer : buffers) frames.push_back(as_bytes(buffer));
    return make_kernel_message(channel, frames).value();
}

inline KernelMessage make_iopub(std::string_view msg_type, std::string_view content,
                                std::string_view parent_id = "p") {
    const Json header = {{"msg_type", msg_type}, {"msg_id", "m"}};
    const Json parent = {{"msg_id", parent_id}};
    return make_message(Channel::iopub, header.dump(), parent.dump(), content);
}

}  // namespace cellblock::kernel_proxy::testing
