#include "vm/snapshot/ram_image.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "base/digest.h"
#include "base/files.h"
#include "base/ids.h"

using namespace cellblock;
using namespace cellblock::vm;

namespace {

constexpr std::uint64_t ram_bytes = 64 << 20;

void put(int fd, std::uint64_t offset, char value, std::size_t bytes = 4096) {
    const std::vector<char> data(bytes, value);
    REQUIRE(::pwrite(fd, data.data(), bytes, static_cast<off_t>(offset)) ==
            static_cast<ssize_t>(bytes));
}

char at(int fd, std::uint64_t offset) {
    char value = 0;
    REQUIRE(::pread(fd, &value, 1, static_cast<off_t>(offset)) == 1);
    return value;
}

}  // namespace

TEST_CASE("only pages with data are copied, to the same places") {
    auto from = make_ram_memfd(ram_bytes);
    auto to = make_ram_memfd(0);
    REQUIRE(from.has_value());
    REQUIRE(to.has_value());
    put(from->get(), 0, 'a');
    put(from->get(), 8192, 0);  // allocated, but zero
    put(from->get(), 3 << 20, 'b', 5 << 20);
    put(from->get(), ram_bytes - 4096, 'c');
    const auto sum = copy_ram(from->get(), to->get());
    REQUIRE(sum.has_value());
    CHECK(sum->data_bytes == 4096 + (5 << 20) + 4096);
    struct stat status;
    REQUIRE(::fstat(to->get(), &status) == 0);
    CHECK(static_cast<std::uint64_t>(status.st_size) == ram_bytes);
    CHECK(status.st_blocks * 512 <= (6 << 20));
    CHECK(at(to->get(), 0) == 'a');
    CHECK(at(to->get(), 8192) == 0);
    CHECK(at(to->get(), (3 << 20) + 1) == 'b');
    CHECK(at(to->get(), ram_bytes - 1) == 'c');
    CHECK(copy_ram(to->get(), -1)->sha256 == sum->sha256);
}

TEST_CASE("the checksum tells a changed page and a moved page, and ignores holes") {
    auto image = make_ram_memfd(ram_bytes);
    put(image->get(), 4096, 'a');
    const auto before = copy_ram(image->get(), -1)->sha256;
    put(image->get(), 1 << 20, 0, 1 << 20);  // a hole becomes zeros
    CHECK(copy_ram(image->get(), -1)->sha256 == before);
    put(image->get(), 4097, 'x', 1);
    CHECK(copy_ram(image->get(), -1)->sha256 != before);
    auto moved = make_ram_memfd(ram_bytes);
    put(moved->get(), 8192, 'a');
    CHECK(copy_ram(moved->get(), -1)->sha256 != before);
}

TEST_CASE("a sealed image cannot be changed by anybody, a private mapping of it can") {
    auto image = make_ram_memfd(ram_bytes);
    put(image->get(), 0, 'a');
    REQUIRE(seal_ram(image->get()).has_value());
    CHECK(::pwrite(image->get(), "x", 1, 0) == -1);
    CHECK(::ftruncate(image->get(), 4096) == -1);
    // Through another file description, opened for writing, as QEMU opens it.
    const auto again = open_file("/proc/self/fd/" + std::to_string(image->get()), O_RDWR);
    REQUIRE(again.has_value());
    CHECK(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again->get(), 0) == MAP_FAILED);
    void* mine = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, again->get(), 0);
    REQUIRE(mine != MAP_FAILED);
    static_cast<char*>(mine)[0] = 'z';
    CHECK(at(image->get(), 0) == 'a');
    ::munmap(mine, 4096);
}

TEST_CASE("a copy to a full disk is a clear error") {
    auto image = make_ram_memfd(ram_bytes);
    put(image->get(), 0, 'a');
    const auto full = open_file("/dev/full", O_RDWR);
    REQUIRE(full.has_value());
    CHECK_FALSE(copy_ram(image->get(), full->get()).has_value());
}
