#include "vm/snapshot/state_store.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "base/fd.h"
#include "base/files.h"
#include "base/limits.h"
#include "tests/unit/temporary_folder.h"

using namespace cellblock;
using namespace cellblock::vm;
namespace fs = std::filesystem;

namespace {

struct StatesFixture {
    TemporaryFolder kept;
    fs::path folder = kept.path();
    StateStore store{folder};
};

MachineState some_state(std::vector<PageRun> runs, unsigned seed = 1) {
    MachineState state;
    state.template_key = std::string(64, 'k');
    state.ram_bytes = 4096 * guest_page_bytes;
    const auto pages = count_pages(runs, state.ram_bytes).value();
    state.runs = std::move(runs);
    state.pages = std::move(PageBuffer::allocate(pages * guest_page_bytes).value());
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < state.pages.bytes().size(); i += 7) {
        state.pages.bytes()[i] = static_cast<std::byte>(random());
    }
    state.devices = "devices, as QEMU saved them";
    return state;
}

bool same(const MachineState& a, const MachineState& b) {
    return a.template_key == b.template_key && a.ram_bytes == b.ram_bytes && a.runs == b.runs &&
           a.devices == b.devices && std::ranges::equal(a.pages.bytes(), b.pages.bytes());
}

void flip_a_byte(const fs::path& path, std::size_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
}

}  // namespace

TEST_CASE_FIXTURE(StatesFixture, "a state comes back as it was saved, with its description") {
    const MachineState state = some_state({PageRun(0, 3), PageRun(17, 900)});
    const auto saved = store.save("one", state, Json{{"who", "me"}});
    REQUIRE(saved.has_value());
    const auto found = store.open();
    REQUIRE(found.has_value());
    REQUIRE(found->size() == 1);
    CHECK(found->front().description == Json{{"who", "me"}});
    CHECK(found->front().memory_bytes == 903 * guest_page_bytes);
    CHECK(found->front().file.bytes == fs::file_size(folder / "one" / "state"));
    const auto loaded = store.load(found->front());
    REQUIRE(loaded.has_value());
    CHECK(same(**loaded, state));
}

TEST_CASE_FIXTURE(StatesFixture, "a state of no pages at all is a state") {
    const MachineState state = some_state({});
    const auto saved = store.save("empty", state, Json::object());
    REQUIRE(saved.has_value());
    const auto loaded = store.load(*saved);
    REQUIRE(loaded.has_value());
    CHECK(same(**loaded, state));
}

TEST_CASE_FIXTURE(StatesFixture, "a state that was changed or cut on disk is refused") {
    const auto saved = store.save("one", some_state({PageRun(5, 20)}), Json::object());
    REQUIRE(saved.has_value());
    const fs::path file = folder / "one" / "state";
    const auto bytes = fs::file_size(file);
    for (const std::size_t at : {std::size_t{0}, std::size_t{9}, bytes / 2, bytes - 1}) {
        flip_a_byte(file, at);
        const auto loaded = store.load(*saved);
        REQUIRE_FALSE(loaded.has_value());
        CHECK(loaded.error().cause.find("damaged") != std::string::npos);
        flip_a_byte(file, at);
    }
    CHECK(store.load(*saved).has_value());
    fs::resize_file(file, bytes / 2);
    CHECK_FALSE(store.load(*saved).has_value());
}

TEST_CASE_FIXTURE(StatesFixture,
                  "no cut and no changed byte of a file gets past the decoder unseen") {
    const MachineState state = some_state({PageRun(1, 2), PageRun(9, 1)});
    REQUIRE(store.save("one", state, Json::object()).has_value());
    const auto whole = read_file(folder / "one" / "state", limits::MiB);
    REQUIRE(whole.has_value());
    const fs::path path = folder / "cut";
    const auto decode = [&](const std::string& text) {
        REQUIRE(write_file_atomically(path, text).has_value());
        const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        return decode_state(fd.get());
    };
    for (std::size_t size = 0; size < whole->size(); size += 1 + size / 16) {
        CHECK_FALSE(decode(whole->substr(0, size)).has_value());
    }
    CHECK_FALSE(decode(*whole + "x").has_value());
    const auto decoded = decode(*whole);
    REQUIRE(decoded.has_value());
    CHECK(same(*decoded, state));
}

TEST_CASE_FIXTURE(StatesFixture,
                  "what a crash left half-way is removed, and damaged manifests are left out") {
    REQUIRE(store.save("good", some_state({}), Json::object()).has_value());
    REQUIRE(store.save("bad", some_state({}), Json::object()).has_value());
    fs::create_directories(folder / "half.new");
    REQUIRE(write_file_atomically(folder / "bad" / "manifest.json", "{").has_value());
    const auto found = store.open();
    REQUIRE(found.has_value());
    REQUIRE(found->size() == 1);
    CHECK(found->front().id == "good");
    CHECK_FALSE(fs::exists(folder / "half.new"));
}

TEST_CASE_FIXTURE(StatesFixture,
                  "removing is complete, and removing what is not there is no error") {
    REQUIRE(store.save("one", some_state({}), Json::object()).has_value());
    REQUIRE(store.remove("one").has_value());
    REQUIRE(store.remove("one").has_value());
    CHECK(fs::is_empty(folder));
}

TEST_CASE_FIXTURE(StatesFixture,
                  "a save that fails leaves nothing behind, and what was there before") {
    const MachineState state = some_state({PageRun(0, 1)});
    REQUIRE(store.save("one", state, Json{{"version", 1}}).has_value());
    // The place is taken by a folder that cannot be replaced: it is not empty.
    const auto again = store.save("one", some_state({}), Json{{"version", 2}});
    CHECK_FALSE(again.has_value());
    CHECK_FALSE(fs::exists(folder / "one.new"));
    const auto found = store.open();
    REQUIRE(found->size() == 1);
    CHECK(found->front().description == Json{{"version", 1}});
}

TEST_CASE("killed at any moment of saving and removing, a store holds whole states only") {
    StatesFixture f;
    std::mt19937 random(7);
    for (int round = 0; round < 15; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            for (unsigned i = 0;; ++i) {
                const std::string id = "s" + std::to_string(i % 3);
                (void)f.store.remove(id);
                (void)f.store.save(id, some_state({PageRun(0, 200)}, i), Json::object());
            }
        }
        ::poll(nullptr, 0, static_cast<int>(2 + random() % 40));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        const auto found = f.store.open();
        REQUIRE(found.has_value());
        for (const SavedState& saved : *found) CHECK(f.store.load(saved).has_value());
        for (const auto& entry : fs::directory_iterator(f.folder)) {
            CHECK(entry.path().extension() != ".new");
        }
    }
}
