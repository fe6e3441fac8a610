#include "artifacts/digest.h"

#include <openssl/evp.h>

#include <array>
#include <cstdlib>

namespace cellblock::artifacts {
namespace {

EVP_MD_CTX* evp(void* context) {
    return static_cast<EVP_MD_CTX*>(context);
}

// SHA-256 in memory fails only when memory is gone or OpenSSL is broken: nothing to go on with.
void must(int ok) {
    if (ok != 1) std::abort();
}

}  // namespace

void Sha256::Deleter::operator()(void* context) const {
    EVP_MD_CTX_free(evp(context));
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
    must(context_ != nullptr);
    must(EVP_DigestInit_ex(evp(context_.get()), EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(ByteView bytes) {
    must(EVP_DigestUpdate(evp(context_.get()), bytes.data(), bytes.size()));
}

std::string Sha256::finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    must(EVP_DigestFinal_ex(evp(context_.get()), digest.data(), &size));
    static constexpr char digits[] = "0123456789abcdef";
    std::string hex;
    hex.reserve(size * 2);
    for (unsigned i = 0; i < size; ++i) {
        hex += digits[digest[i] >> 4];
        hex += digits[digest[i] & 15];
    }
    return hex;
}

}  // namespace cellblock::artifacts
