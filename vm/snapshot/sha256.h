// SHA-256, for what templates and states are checked by.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace cellblock::vm {

class Sha256 {
  public:
    Sha256();
    void update(const void* data, std::size_t size);
    // Lower-case hex. Once.
    std::string hex();

  private:
    std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

std::string sha256_hex(std::string_view text);
// Blocking.
Result<std::string> sha256_file(const std::string& path);

}  // namespace cellblock::vm
