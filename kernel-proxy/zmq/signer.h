// Signs and verifies Jupyter messages: HMAC over the four JSON frames, in lower-case hex.
//
// Verifying looks at nothing but lengths and bytes, so that what fails is never parsed. An empty
// key means that nothing is signed (the protocol allows it). Copyable; one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

namespace cellblock::kernel_proxy::zmq_door {

class Signer {
  public:
    // `scheme` as connection files have it: "hmac-sha256", or another digest of OpenSSL's.
    static Result<Signer> create(std::string_view scheme, std::string key);

    // Of header, parent header, metadata and content; empty without a key.
    std::string sign(std::span<const ByteView> frames) const;
    // Length first, then in constant time.
    bool verify(std::span<const ByteView> frames, std::string_view signature) const;

  private:
    struct Mac;
    explicit Signer(std::shared_ptr<Mac> mac) : mac_(std::move(mac)) {}

    std::shared_ptr<Mac> mac_;  // null: no key
};

}  // namespace cellblock::kernel_proxy::zmq_door
