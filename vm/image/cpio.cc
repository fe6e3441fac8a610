#include "vm/image/cpio.h"

#include <array>
#include <cstdio>

namespace cellblock::vm {

namespace {

constexpr unsigned directory_mode = 040755;
constexpr unsigned regular_type = 0100000;
constexpr std::size_t block_bytes = 512;  // archives end on this boundary

void pad(std::string& out, std::size_t alignment) {
    out.append((alignment - out.size() % alignment) % alignment, '\0');
}

// The header's 13 numbers, in the order of the format.
void add_entry(std::string& out, unsigned inode, unsigned mode, std::string_view path,
               std::string_view content) {
    const unsigned links = 1;
    const std::array<std::size_t, 13> numbers = {
        inode, mode, 0, 0, links, 0, content.size(), 0, 0, 0, 0, path.size() + 1, 0};
    out += "070701";
    for (const std::size_t number : numbers) {
        std::array<char, 9> text{};
        std::snprintf(text.data(), text.size(), "%08X", static_cast<unsigned>(number));
        out += text.data();
    }
    out += path;
    out += '\0';
    pad(out, 4);
    out += content;
    pad(out, 4);
}

}  // namespace

void CpioArchive::add_directory(std::string_view path) {
    for (std::size_t end = path.find('/'); end != std::string_view::npos;
         end = path.find('/', end + 1)) {
        entries_[std::string(path.substr(0, end))] = {directory_mode, {}};
    }
    entries_[std::string(path)] = {directory_mode, {}};
}

void CpioArchive::add_file(std::string_view path, unsigned permissions, std::string content) {
    const std::size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) add_directory(path.substr(0, slash));
    entries_[std::string(path)] = {regular_type | permissions, std::move(content)};
}

std::string CpioArchive::bytes() const {
    std::string out;
    unsigned inode = 0;
    for (const auto& [path, entry] : entries_) {
        add_entry(out, ++inode, entry.mode, path, entry.content);
    }
    add_entry(out, 0, 0, "TRAILER!!!", {});
    pad(out, block_bytes);
    return out;
}

}  // namespace cellblock::vm
