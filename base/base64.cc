#include "base/base64.h"

#include <array>

namespace cellblock {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr unsigned char kInvalid = 255;

constexpr std::array<unsigned char, 256> make_decoder() {
    std::array<unsigned char, 256> table{};
    table.fill(kInvalid);
    for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
        table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<unsigned char>(i);
    }
    return table;
}
constexpr auto kDecoder = make_decoder();

}  // namespace

std::string base64_encode(ByteView bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    const auto at = [&bytes](std::size_t i) {
        return i < bytes.size() ? std::to_integer<unsigned>(bytes[i]) : 0U;
    };
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const unsigned group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
        text.push_back(kAlphabet[group >> 18]);
        text.push_back(kAlphabet[group >> 12 & 63]);
        text.push_back(i + 1 < bytes.size() ? kAlphabet[group >> 6 & 63] : '=');
        text.push_back(i + 2 < bytes.size() ? kAlphabet[group & 63] : '=');
    }
    return text;
}

Result<Bytes> base64_decode(std::string_view text) {
    Bytes bytes;
    bytes.reserve(text.size() / 4 * 3);
    unsigned group = 0;
    unsigned digits = 0;
    unsigned padding = 0;
    for (const char c : text) {
        if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
        if (c == '=') {
            ++padding;
            continue;
        }
        const unsigned char value = kDecoder[static_cast<unsigned char>(c)];
        if (value == kInvalid || padding > 0) {
            return fail(ErrorCode::invalid_argument,
                        "not base64: a character that it does not have");
        }
        group = group << 6 | value;
        if (++digits == 4) {
            for (const unsigned shift : {16U, 8U, 0U}) {
                bytes.push_back(static_cast<std::byte>(group >> shift & 255));
            }
            group = 0;
            digits = 0;
        }
    }
    if (digits == 1 || padding > 2 || (digits + padding) % 4 != 0) {
        return fail(ErrorCode::invalid_argument, "not base64: the end is missing");
    }
    if (digits == 2) bytes.push_back(static_cast<std::byte>(group >> 4 & 255));
    if (digits == 3) {
        bytes.push_back(static_cast<std::byte>(group >> 10 & 255));
        bytes.push_back(static_cast<std::byte>(group >> 2 & 255));
    }
    return bytes;
}

}  // namespace cellblock
