#include "kernel-proxy/zmq/signer.h"

#include <algorithm>
#include <array>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/hex.h"
#include "base/ids.h"

namespace cellblock::kernel_proxy::zmq_door {
namespace {

struct Free {
    void operator()(EVP_MAC* mac) const { ::EVP_MAC_free(mac); }
    void operator()(EVP_MAC_CTX* context) const { ::EVP_MAC_CTX_free(context); }
};

}  // namespace

// The context keeps the key: each message starts it anew without one.
struct Signer::Mac {
    std::unique_ptr<EVP_MAC, Free> algorithm;
    std::unique_ptr<EVP_MAC_CTX, Free> context;
    std::size_t signature_chars = 0;
};

Result<Signer> Signer::create(std::string_view scheme, std::string key) {
    if (key.empty()) return Signer(nullptr);
    constexpr std::string_view prefix = "hmac-";
    std::string digest(scheme.substr(std::min(prefix.size(), scheme.size())));
    // Python's names of digests, which Jupyter uses, and OpenSSL's.
    std::replace(digest.begin(), digest.end(), '_', '-');
    auto mac = std::make_shared<Mac>();
    mac->algorithm.reset(::EVP_MAC_fetch(nullptr, "HMAC", nullptr));
    mac->context.reset(::EVP_MAC_CTX_new(mac->algorithm.get()));
    const std::array<OSSL_PARAM, 2> params = {
        ::OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
        ::OSSL_PARAM_construct_end()};
    const auto* bytes = reinterpret_cast<const unsigned char*>(key.data());
    if (!scheme.starts_with(prefix) || !mac->context ||
        ::EVP_MAC_init(mac->context.get(), bytes, key.size(), params.data()) != 1) {
        return fail(ErrorCode::not_supported,
                    "the signature scheme \"" + std::string(scheme) + "\" is not known",
                    "use hmac-sha256");
    }
    mac->signature_chars = 2 * ::EVP_MAC_CTX_get_mac_size(mac->context.get());
    return Signer(std::move(mac));
}

std::string Signer::sign(std::span<const ByteView> frames) const {
    if (!mac_) return {};
    EVP_MAC_CTX* context = mac_->context.get();
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    std::size_t size = 0;
    bool made = ::EVP_MAC_init(context, nullptr, 0, nullptr) == 1;
    for (const ByteView frame : frames) {
        const auto* data = reinterpret_cast<const unsigned char*>(frame.data());
        made = made && ::EVP_MAC_update(context, data, frame.size()) == 1;
    }
    made = made && ::EVP_MAC_final(context, digest.data(), &size, digest.size()) == 1;
    // Without memory for a digest; an empty signature is accepted by nobody who has a key.
    if (!made) return {};
    return to_hex(std::as_bytes(std::span(digest)).first(size));
}

bool Signer::verify(std::span<const ByteView> frames, std::string_view signature) const {
    if (!mac_) return true;
    if (signature.size() != mac_->signature_chars) return false;
    return equal_in_constant_time(sign(frames), signature);
}

}  // namespace cellblock::kernel_proxy::zmq_door
