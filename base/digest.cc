#include "base/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/files.h"
#include "base/hex.h"
#include "base/limits.h"

namespace cellblock {
namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

void must(bool ok) {
    if (!ok) std::abort();
}

std::string_view text_of(const Digest& digest, unsigned size) {
    return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

Sha256::Sha256() : context_(::EVP_MD_CTX_new(), &::EVP_MD_CTX_free) {
    must(context_ && ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) == 1);
}

void Sha256::update(ByteView bytes) {
    must(::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
    Digest digest{};
    unsigned size = 0;
    must(::EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
    return to_hex(as_bytes(text_of(digest, size)));
}

std::string sha256_hex(std::string_view text) {
    Sha256 hash;
    hash.update(as_bytes(text));
    return hash.finish();
}

Result<std::string> sha256_file(const std::string& path) {
    CB_TRY_ASSIGN(fd, open_file(path, O_RDONLY));
    Sha256 hash;
    Bytes chunk(1 * limits::MiB);
    while (true) {
        const ssize_t n = ::read(fd.get(), chunk.data(), chunk.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(error_from_errno(errno, "read " + path));
        if (n == 0) return hash.finish();
        hash.update(ByteView(chunk).first(static_cast<std::size_t>(n)));
    }
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
    Digest mac{};
    unsigned size = 0;
    must(::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
                reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(),
                &size) != nullptr);
    return std::string(text_of(mac, size));
}

}  // namespace cellblock
