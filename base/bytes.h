// Byte buffers and the views that pass between layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cellblock {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

inline ByteView as_bytes(std::string_view text) {
    return ByteView(reinterpret_cast<const std::byte*>(text.data()), text.size());
}
inline std::string_view as_text(ByteView bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
inline Bytes to_bytes(std::string_view text) {
    const ByteView view = as_bytes(text);
    return Bytes(view.begin(), view.end());
}

// Little-endian integers in wire formats of ours. The caller has checked the bounds.
template <typename T>
inline T load_le(const std::byte* from) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value |= static_cast<T>(static_cast<T>(std::to_integer<unsigned char>(from[i])) << (8 * i));
    }
    return value;
}
template <typename T>
inline void store_le(std::byte* to, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        to[i] = static_cast<std::byte>(static_cast<unsigned char>(value >> (8 * i)));
    }
}

}  // namespace cellblock
