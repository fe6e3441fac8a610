// What the clients of a kernel have of it, and what they have asked, as values: for a gateway that
// goes on with the kernel. What they do not have, the guest says again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cellblock::kernel_proxy {

struct ChannelsImage {
    // One that may come back by its name.
    struct SessionPlace {
        std::string name;
        std::uint64_t has = 0;  // journal entries made of messages after `base`
    };
    // One whose reply some session may still need.
    struct Request {
        std::string msg_id;
        std::string msg_type;
        std::string session;
    };

    std::uint64_t base = 0;  // messages up to this one are needed by no session
    std::vector<SessionPlace> sessions;
    std::vector<Request> requests;

    ChannelsImage() = default;
};

}  // namespace cellblock::kernel_proxy
