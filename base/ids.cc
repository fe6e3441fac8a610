#include "base/ids.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "base/hex.h"

namespace cellblock {

void fill_random(void* buffer, std::size_t size) {
    auto* at = static_cast<unsigned char*>(buffer);
    while (size > 0) {
        const ssize_t n = ::getrandom(at, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            std::perror("getrandom");
            std::abort();
        }
        at += n;
        size -= static_cast<std::size_t>(n);
    }
}

std::string new_uuid() {
    std::array<unsigned char, 16> bytes;
    fill_random(bytes.data(), bytes.size());
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);  // version 4
    bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);  // variant of RFC 9562
    std::string text = to_hex(std::as_bytes(std::span(bytes)));
    for (const std::size_t at : {8, 13, 18, 23}) text.insert(at, 1, '-');
    return text;
}

std::string new_short_id(std::size_t length) {
    constexpr std::string_view id_letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::string text;
    while (text.size() < length) {
        unsigned char byte = 0;
        fill_random(&byte, 1);
        // 252 = 7 * 36: larger bytes are thrown away so that every character is equally likely.
        if (byte < 252) text.push_back(id_letters[byte % id_letters.size()]);
    }
    return text;
}

std::string new_secret() {
    std::array<unsigned char, 32> bytes;
    fill_random(bytes.data(), bytes.size());
    return to_hex(std::as_bytes(std::span(bytes)));
}

bool is_valid_id(std::string_view text) {
    if (text.empty() || text.size() > 64) return false;
    for (const char c : text) {
        const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!ok) return false;
    }
    return true;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned char difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
    }
    return difference == 0;
}

}  // namespace cellblock
