#include "vm/qemu/guest_memory.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "vm/snapshot/ram_image.h"

using namespace cellblock;
using namespace cellblock::vm;

namespace {

constexpr std::uint64_t pages = 1024;
constexpr std::uint64_t ram_bytes = pages * guest_page_bytes;

// A process that maps `ram` privately, as a QEMU does: writes pages 3, 4 and 700, reads page 20 (a
// hole) and page 1 (data), and then stands still until it is told to compare page 5 and to end.
class FakeGuest {
  public:
    explicit FakeGuest(int ram, int map_flags = MAP_PRIVATE) {
        std::array<int, 2> ready{};
        std::array<int, 2> go{};
        REQUIRE(::pipe(ready.data()) == 0);
        REQUIRE(::pipe(go.data()) == 0);
        pid_ = ::fork();
        if (pid_ == 0) run(ram, map_flags, ready[1], go[0]);
        char byte = 0;
        REQUIRE(::read(ready[0], &byte, 1) == 1);
        go_ = go[1];
        for (const int fd : {ready[0], ready[1], go[0]}) ::close(fd);
    }
    ~FakeGuest() {
        if (pid_ > 0) (void)end();
        ::close(go_);
    }
    pid_t pid() const { return pid_; }
    // What page 5 begins with there.
    int end() {
        (void)!::write(go_, "x", 1);
        int status = 0;
        ::waitpid(std::exchange(pid_, -1), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

  private:
    [[noreturn]] static void run(int ram, int map_flags, int ready, int go) {
        void* memory = ::mmap(nullptr, ram_bytes, PROT_READ | PROT_WRITE, map_flags, ram, 0);
        if (memory == MAP_FAILED) ::_exit(255);
        auto* bytes = static_cast<volatile char*>(memory);
        const auto page = [bytes](std::size_t n) { return bytes + n * guest_page_bytes; };
        if (map_flags == MAP_PRIVATE) {
            *page(3) = 'c';
            *page(4) = 'd';
            *page(700) = 'z';
        }
        const char read = static_cast<char>(*page(20) + *page(1));
        (void)!::write(ready, &read, 1);
        char byte = 0;
        (void)!::read(go, &byte, 1);
        ::_exit(*page(5));
    }

    pid_t pid_ = -1;
    int go_ = -1;
};

Fd sealed_ram() {
    Fd ram = std::move(make_ram_memfd(ram_bytes).value());
    REQUIRE(::pwrite(ram.get(), "b", 1, guest_page_bytes) == 1);
    REQUIRE(seal_ram(ram.get()).has_value());
    return ram;
}

}  // namespace

TEST_CASE("only pages that were written are a machine's own, not those that it has read") {
    const Fd ram = sealed_ram();
    FakeGuest guest(ram.get());
    const auto memory = GuestMemory::open(guest.pid(), ram.get(), ram_bytes);
    REQUIRE(memory.has_value());
    const auto runs = memory->private_pages();
    REQUIRE(runs.has_value());
    CHECK(*runs == std::vector<PageRun>{PageRun(3, 2), PageRun(700, 1)});
    auto copy = PageBuffer::allocate(3 * guest_page_bytes);
    REQUIRE(copy.has_value());
    REQUIRE(memory->read(*runs, copy->bytes()).has_value());
    const std::byte* bytes = copy->bytes().data();
    CHECK(static_cast<char>(bytes[0]) == 'c');
    CHECK(static_cast<char>(bytes[guest_page_bytes]) == 'd');
    CHECK(static_cast<char>(bytes[2 * guest_page_bytes]) == 'z');
}

TEST_CASE("pages that are written into a machine are its own, and the sealed base stays as it is") {
    const Fd ram = sealed_ram();
    FakeGuest guest(ram.get());
    const auto memory = GuestMemory::open(guest.pid(), ram.get(), ram_bytes);
    REQUIRE(memory.has_value());
    auto page = PageBuffer::allocate(guest_page_bytes);
    REQUIRE(page.has_value());
    page->bytes()[0] = std::byte{42};
    const std::vector<PageRun> five = {PageRun(5, 1)};
    const ByteView view = std::as_const(*page).bytes();
    REQUIRE(memory->write(five, view).has_value());
    const auto runs = memory->private_pages();
    REQUIRE(runs.has_value());
    CHECK(*runs == std::vector<PageRun>{PageRun(3, 3), PageRun(700, 1)});
    CHECK(guest.end() == 42);
    char byte = 1;
    REQUIRE(::pread(ram.get(), &byte, 1, 5 * guest_page_bytes) == 1);
    CHECK(byte == 0);
}

TEST_CASE("a process that does not map this memory privately, or not all of it, is refused") {
    const Fd ram = sealed_ram();
    const Fd other = sealed_ram();
    FakeGuest guest(ram.get());
    CHECK_FALSE(GuestMemory::open(guest.pid(), other.get(), ram_bytes).has_value());
    CHECK_FALSE(GuestMemory::open(guest.pid(), ram.get(), 2 * ram_bytes).has_value());
    CHECK_FALSE(GuestMemory::open(::getpid(), ram.get(), ram_bytes).has_value());
    const Fd open_ram = std::move(make_ram_memfd(ram_bytes).value());
    FakeGuest sharing(open_ram.get(), MAP_SHARED);
    CHECK_FALSE(GuestMemory::open(sharing.pid(), open_ram.get(), ram_bytes).has_value());
}

TEST_CASE("runs outside of the guest's RAM, and buffers of another size, are refused") {
    const Fd ram = sealed_ram();
    FakeGuest guest(ram.get());
    const auto memory = GuestMemory::open(guest.pid(), ram.get(), ram_bytes);
    REQUIRE(memory.has_value());
    auto page = PageBuffer::allocate(guest_page_bytes);
    const std::vector<PageRun> outside = {PageRun(pages, 1)};
    CHECK_FALSE(memory->read(outside, page->bytes()).has_value());
    const std::vector<PageRun> two = {PageRun(0, 2)};
    CHECK_FALSE(memory->read(two, page->bytes()).has_value());
    CHECK_FALSE(count_pages(outside, ram_bytes).has_value());
    const std::vector<PageRun> overlapping = {PageRun(0, 2), PageRun(1, 1)};
    CHECK_FALSE(count_pages(overlapping, ram_bytes).has_value());
    const std::vector<PageRun> huge = {PageRun(UINT32_MAX, UINT32_MAX)};
    CHECK_FALSE(count_pages(huge, ram_bytes).has_value());
    CHECK(count_pages(two, ram_bytes).value() == 2);
}
