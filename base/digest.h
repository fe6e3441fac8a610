// SHA-256, and the HMAC made of it (RFC 2104): what artifacts are named by, what states are checked
// by, what we sign with. OpenSSL does it; in memory it fails only when memory is gone or OpenSSL is
// broken, and then the process ends.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace cellblock {

class Sha256 {
  public:
    Sha256();
    void update(ByteView bytes);
    // 64 lower-case hex digits. The object is spent afterwards.
    std::string finish();

  private:
    std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

std::string sha256_hex(std::string_view text);
// Blocking.
Result<std::string> sha256_file(const std::string& path);

// 32 raw bytes.
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace cellblock
