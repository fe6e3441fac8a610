#include "vm/snapshot/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/files.h"
#include "base/limits.h"

namespace cellblock::vm {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
}

void Sha256::update(const void* data, std::size_t size) {
    EVP_DigestUpdate(context_.get(), data, size);
}

std::string Sha256::hex() {
    std::array<unsigned char, 32> digest{};
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    std::string text;
    for (const unsigned char byte : digest) {
        text.push_back("0123456789abcdef"[byte >> 4]);
        text.push_back("0123456789abcdef"[byte & 15]);
    }
    return text;
}

std::string sha256_hex(std::string_view text) {
    Sha256 hash;
    hash.update(text.data(), text.size());
    return hash.hex();
}

Result<std::string> sha256_file(const std::string& path) {
    CB_TRY_ASSIGN(fd, open_file(path, O_RDONLY));
    Sha256 hash;
    std::vector<char> chunk(1 * limits::MiB);
    while (true) {
        const ssize_t n = ::read(fd.get(), chunk.data(), chunk.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(error_from_errno(errno, "read " + path));
        if (n == 0) return hash.hex();
        hash.update(chunk.data(), static_cast<std::size_t>(n));
    }
}

}  // namespace cellblock::vm
