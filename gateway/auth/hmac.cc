#include "gateway/auth/hmac.h"

#include <array>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace cellblock::gateway::auth {

std::string hmac_sha256(std::string_view key, std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
    unsigned size = 0;
    ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
    return std::string(reinterpret_cast<const char*>(mac.data()), size);
}

}  // namespace cellblock::gateway::auth
