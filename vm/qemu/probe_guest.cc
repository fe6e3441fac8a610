// The accelerator probe's guest: 40 bytes of machine code in an ELF file with a PVH entry note,
// which QEMU's microvm board enters in 32-bit protected mode, no paging.
#include <array>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "vm/qemu/accelerator.h"

namespace cellblock::vm {
namespace {

constexpr std::uint64_t load_address = 0x100000;
constexpr std::uint32_t iterations = 20'000'000;
constexpr std::size_t headers_bytes = 64 + 2 * 56;

void append(std::string& out, std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) out.push_back(static_cast<char>(byte));
}
template <typename T>
void append_le(std::string& out, T value) {
    std::array<std::byte, sizeof(T)> bytes;
    store_le<T>(bytes.data(), value);
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string probe_code() {
    std::string code;
    append(code, {0xb9});  // mov ecx, iterations
    append_le<std::uint32_t>(code, iterations);
    append(code, {0x49});              // again: dec ecx
    append(code, {0x75, 0xfd});        // jnz again
    append(code, {0xb0, 0x10});        // mov al, 16
    append(code, {0xe6, 0xf4});        // out 0xf4, al: isa-debug-exit ends QEMU with (16 << 1) | 1
    append(code, {0xf4, 0xeb, 0xfd});  // hlt; jmp to the hlt
    return code;
}

// XEN_ELFNOTE_PHYS32_ENTRY (18), owner "Xen": where to enter.
std::string entry_note(std::uint32_t entry) {
    std::string note;
    append_le<std::uint32_t>(note, 4);
    append_le<std::uint32_t>(note, 4);
    append_le<std::uint32_t>(note, 18);
    note.append("Xen\0", 4);
    append_le<std::uint32_t>(note, entry);
    return note;
}

void append_segment(std::string& out, std::uint32_t type, std::uint32_t flags, std::uint64_t offset,
                    std::uint64_t address, std::uint64_t size) {
    append_le<std::uint32_t>(out, type);
    append_le<std::uint32_t>(out, flags);
    append_le<std::uint64_t>(out, offset);
    append_le<std::uint64_t>(out, address);
    append_le<std::uint64_t>(out, address);
    append_le<std::uint64_t>(out, size);
    append_le<std::uint64_t>(out, size);
    append_le<std::uint64_t>(out, 4);
}

}  // namespace

std::string probe_guest_elf() {
    const std::string code = probe_code();
    const std::string note = entry_note(static_cast<std::uint32_t>(load_address));
    const std::uint64_t code_at = headers_bytes;
    const std::uint64_t note_at = (code_at + code.size() + 3) / 4 * 4;
    std::string elf(
        "\x7f"
        "ELF",
        4);
    append(elf, {2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});  // 64-bit, little-endian
    append_le<std::uint16_t>(elf, 2);                   // executable
    append_le<std::uint16_t>(elf, 62);                  // x86-64
    append_le<std::uint32_t>(elf, 1);
    append_le<std::uint64_t>(elf, load_address);
    append_le<std::uint64_t>(elf, 64);  // program headers
    append_le<std::uint64_t>(elf, 0);
    append_le<std::uint32_t>(elf, 0);
    append_le<std::uint16_t>(elf, 64);
    append_le<std::uint16_t>(elf, 56);
    append_le<std::uint16_t>(elf, 2);
    append_le<std::uint16_t>(elf, 64);
    append_le<std::uint16_t>(elf, 0);
    append_le<std::uint16_t>(elf, 0);
    append_segment(elf, 1, 5, code_at, load_address, code.size());  // PT_LOAD
    append_segment(elf, 4, 4, note_at, 0, note.size());             // PT_NOTE
    elf += code;
    elf.resize(note_at, '\0');
    elf += note;
    return elf;
}

}  // namespace cellblock::vm
