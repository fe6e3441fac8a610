#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace cellblock {

bool is_valid_utf8(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        // Most text is ASCII: eight characters at once.
        std::uint64_t eight = 0;
        if (text.size() - i >= sizeof eight) {
            std::memcpy(&eight, text.data() + i, sizeof eight);
            if ((eight & 0x8080808080808080U) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        const auto lead = static_cast<unsigned char>(text[i]);
        std::size_t more = 0;
        char32_t value = lead;
        char32_t smallest = 0;
        if (lead >= 0x80) {
            if (lead >= 0xc2 && lead <= 0xdf) {
                more = 1, value = lead & 0x1f, smallest = 0x80;
            } else if (lead >= 0xe0 && lead <= 0xef) {
                more = 2, value = lead & 0x0f, smallest = 0x800;
            } else if (lead >= 0xf0 && lead <= 0xf4) {
                more = 3, value = lead & 0x07, smallest = 0x10000;
            } else {
                return false;
            }
        }
        if (i + more >= text.size()) return false;
        for (std::size_t k = 1; k <= more; ++k) {
            const auto next = static_cast<unsigned char>(text[i + k]);
            if ((next & 0xc0) != 0x80) return false;
            value = (value << 6) | (next & 0x3f);
        }
        const bool surrogate = value >= 0xd800 && value <= 0xdfff;
        if (value < smallest || value > 0x10ffff || surrogate) return false;
        i += more + 1;
    }
    return true;
}

}  // namespace cellblock
