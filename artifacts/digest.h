// SHA-256 of a stream (OpenSSL's EVP).
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"

namespace cellblock::artifacts {

class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    void update(ByteView bytes);
    // 64 lower-case hex digits. The object is spent afterwards.
    std::string finish();

  private:
    struct Deleter {
        void operator()(void* context) const;
    };
    std::unique_ptr<void, Deleter> context_;  // EVP_MD_CTX
};

}  // namespace cellblock::artifacts
