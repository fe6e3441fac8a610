// The store under kill -9: at random moments of much work, and before each step of its write path
// in turn; and on a disk that is full.
#include <doctest/doctest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "artifacts/store.h"
#include "base/digest.h"
#include "base/files.h"
#include "tests/unit/artifacts/content_files.h"
#include "tests/unit/temporary_folder.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

constexpr int rounds = 20;

// The child: writes and removes artifacts until it is killed, and reports each id that finish()
// confirmed (and "-" with each that remove() confirmed) through the pipe.
[[noreturn]] void write_for_ever(const std::filesystem::path& folder, int pipe, unsigned seed) {
    Quotas quotas;
    quotas.disk_reserve_bytes = 0;
    auto store = Store::open(folder, quotas);
    if (!store) ::_exit(2);
    std::mt19937 random(seed);
    std::vector<std::string> mine;
    while (true) {
        // Small contents repeat, so that sharing and its removal are walked through too.
        const std::size_t size = random() % 4 == 0 ? random() % 200'000 : random() % 8;
        const std::string content(size, static_cast<char>('a' + random() % 3));
        ArtifactInfo info;
        info.name = "x";
        auto artifact = (*store)->put(as_bytes(content), info);
        if (!artifact) ::_exit(3);
        (void)write_all(pipe, "+" + artifact->id + "\n");
        mine.push_back(artifact->id);
        if (random() % 3 == 0) {
            const std::string id = mine[random() % mine.size()];
            std::erase(mine, id);
            (void)write_all(pipe, "?" + id + "\n");  // from here on it may be gone
            if (!(*store)->remove(id)) ::_exit(4);
            (void)write_all(pipe, "-" + id + "\n");
        }
    }
}

// One walk over the write path: a content by itself, one that is there already, one in pieces, and
// the removal of a shared and of an own content.
[[noreturn]] void walk(const std::filesystem::path& folder, int pipe) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(9);
    ::raise(SIGSTOP);
    Quotas quotas;
    quotas.disk_reserve_bytes = 0;
    auto store = Store::open(folder, quotas);
    if (!store) ::_exit(2);
    ArtifactInfo info;
    info.name = "x";
    std::vector<std::string> ids;
    for (const std::string_view content : {"one", "two", "one"}) {
        auto writer = (*store)->begin(info);
        if (!writer || !writer->append(as_bytes(content.substr(0, 1)))) ::_exit(3);
        if (!writer->append(as_bytes(content.substr(1)))) ::_exit(3);
        auto artifact = writer->finish();
        if (!artifact) ::_exit(4);
        (void)write_all(pipe, "+" + artifact->id + "\n");
        ids.push_back(artifact->id);
    }
    for (const std::string& id : ids) {
        (void)write_all(pipe, "?" + id + "\n");
        if (!(*store)->remove(id)) ::_exit(5);
        (void)write_all(pipe, "-" + id + "\n");
    }
    ::_exit(0);
}

// Whether a system call changes what is on disk.
bool writes(std::uint64_t number) {
    constexpr std::array changing = {
        SYS_openat, SYS_open,   SYS_write,     SYS_pwrite64,  SYS_writev, SYS_rename,  SYS_renameat,
        SYS_fsync,  SYS_unlink, SYS_unlinkat,  SYS_ftruncate, SYS_mkdir,  SYS_mkdirat, SYS_link,
        SYS_linkat, SYS_rmdir,  SYS_renameat2, SYS_fdatasync, SYS_mmap,   SYS_close};
    return std::ranges::find(changing, static_cast<long>(number)) != changing.end();
}

// Lets a traced child go up to its `step`th such call and kills it before that is carried out;
// false when it has come to its end before.
bool kill_before(pid_t child, std::size_t step) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSTOPPED(status));
    REQUIRE(::ptrace(PTRACE_SETOPTIONS, child, nullptr,
                     PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0);
    for (std::size_t seen = 0;;) {
        REQUIRE(::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0);
        REQUIRE(::waitpid(child, &status, 0) == child);
        if (WIFEXITED(status)) {
            CHECK(WEXITSTATUS(status) == 0);
            return false;
        }
        REQUIRE(WIFSTOPPED(status));
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
        __ptrace_syscall_info call{};
        REQUIRE(::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call) > 0);
        if (call.op != PTRACE_SYSCALL_INFO_ENTRY || !writes(call.entry.nr)) continue;
        if (++seen < step) continue;
        ::kill(child, SIGKILL);
        REQUIRE(::waitpid(child, &status, 0) == child);
        return true;
    }
}

// Reads all that the child said before it died.
std::string kill_after(pid_t child, int pipe, int milliseconds) {
    std::string said;
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    char buffer[4096];
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                              deadline - std::chrono::steady_clock::now())
                              .count();
        if (left <= 0) break;
        pollfd waiting{pipe, POLLIN, 0};
        if (::poll(&waiting, 1, static_cast<int>(left)) == 1) {
            const ssize_t n = ::read(pipe, buffer, sizeof buffer);
            if (n <= 0) break;
            said.append(buffer, static_cast<std::size_t>(n));
        }
    }
    ::kill(child, SIGKILL);
    for (ssize_t n; (n = ::read(pipe, buffer, sizeof buffer)) > 0;) {
        said.append(buffer, static_cast<std::size_t>(n));
    }
    return said;
}

std::string digest_of(const OpenArtifact& open) {
    Bytes bytes(open.artifact.size_bytes + 1);
    const auto read = read_at(open.fd, 0, bytes);
    if (!read) return "unreadable";
    Sha256 digest;
    digest.update(ByteView(bytes).first(*read));
    return digest.finish();
}

struct Expected {
    std::set<std::string> there;
    std::set<std::string> maybe;
    std::set<std::string> gone;
};

void hear(const std::string& said, Expected& expected) {
    std::size_t at = 0;
    for (std::size_t end; (end = said.find('\n', at)) != std::string::npos; at = end + 1) {
        const std::string id = said.substr(at + 1, end - at - 1);
        if (said[at] == '+') expected.there.insert(id);
        if (said[at] == '?') {
            expected.there.erase(id);
            expected.maybe.insert(id);
        }
        if (said[at] == '-') {
            expected.maybe.erase(id);
            expected.gone.insert(id);
        }
    }
}

void check_consistent(const std::filesystem::path& folder, const Expected& expected) {
    Quotas quotas;
    quotas.disk_reserve_bytes = 0;
    auto store = Store::open(folder, quotas);
    REQUIRE_MESSAGE(store, (store ? "" : store.error().text()));
    const auto report = (*store)->clean_up();
    REQUIRE(report);
    CHECK(report->rows_without_blob == 0);
    std::set<std::string> contents;
    for (const std::string& id : expected.there) {
        INFO("artifact ", id);
        CHECK((*store)->get(id));
    }
    for (const std::string& id : expected.gone) {
        INFO("removed artifact ", id);
        CHECK_FALSE((*store)->get(id));
    }
    ListQuery query;
    std::vector<Artifact> page;
    do {
        page = *(*store)->list(query);
        for (const Artifact& artifact : page) {
            auto open = (*store)->open_content(artifact.id);
            REQUIRE(open);
            CHECK(digest_of(*open) == artifact.sha256);
            contents.insert(artifact.sha256);
        }
        query.offset += page.size();
    } while (!page.empty());
    CHECK(content_files(folder) == contents.size());
}

}  // namespace

TEST_CASE("kill -9 at any moment leaves a consistent store, and loses nothing confirmed") {
    TemporaryFolder folder;
    std::mt19937 random(20240607);
    Expected expected;
    std::size_t confirmed = 0;
    for (int round = 0; round < rounds; ++round) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::close(ends[0]);
            write_for_ever(folder.path(), ends[1], static_cast<unsigned>(round));
        }
        ::close(ends[1]);
        const std::string said = kill_after(child, ends[0], 20 + static_cast<int>(random() % 150));
        ::close(ends[0]);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        // It was killed, it did not fail.
        REQUIRE(WIFSIGNALED(status));
        confirmed += static_cast<std::size_t>(std::count(said.begin(), said.end(), '+'));
        hear(said, expected);
        check_consistent(folder.path(), expected);
    }
    CHECK(confirmed > 0);
}

TEST_CASE("kill -9 before each step of the write path, one after the other") {
    std::size_t step = 1;
    for (bool more = true; more; ++step) {
        INFO("step ", step);
        TemporaryFolder folder;
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::close(ends[0]);
            walk(folder.path() / "artifacts", ends[1]);
        }
        ::close(ends[1]);
        more = kill_before(child, step);
        std::string said(4096, '\0');  // less than a pipe holds
        const ssize_t n = ::read(ends[0], said.data(), said.size());
        ::close(ends[0]);
        said.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
        Expected expected;
        hear(said, expected);
        check_consistent(folder.path() / "artifacts", expected);
    }
    CHECK(step > 30);
}

TEST_CASE("a full disk is disk_full, and the store goes on when there is room again") {
    TemporaryFolder folder;
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        // A disk of its own: a small tmpfs in a mount namespace of its own. 77 = not possible here.
        if (::unshare(::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0 ||
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
            ::_exit(77);
        }
        Quotas quotas;
        quotas.disk_reserve_bytes = 0;
        auto store = Store::open(folder.path() / "artifacts", quotas);
        if (!store) ::_exit(1);
        ArtifactInfo info;
        info.name = "x";
        std::vector<std::string> stored;
        ErrorCode ended = ErrorCode::internal;
        for (int i = 0; i < 1000; ++i) {
            const std::string content(i < 20 ? 30'000 : 3'000, static_cast<char>('a' + i % 26));
            auto artifact = (*store)->put(as_bytes(content + std::to_string(i)), info);
            if (!artifact) {
                ended = artifact.error().code;
                std::fprintf(stderr, "full after %d: %s\n", i, artifact.error().text().c_str());
                break;
            }
            stored.push_back(artifact->id);
        }
        if (ended != ErrorCode::disk_full) ::_exit(2);
        for (const std::string& id : stored) {
            auto open = (*store)->open_content(id);
            if (!open || digest_of(*open) != open->artifact.sha256) ::_exit(3);
        }
        store->reset();
        store = Store::open(folder.path() / "artifacts", quotas);
        if (!store) ::_exit(4);
        const auto report = (*store)->clean_up();
        if (!report || report->rows_without_blob != 0) ::_exit(5);
        for (std::size_t i = 0; i < stored.size() / 2; ++i) {
            if (!(*store)->remove(stored[i])) ::_exit(6);
        }
        ::_exit((*store)->put(as_bytes("room again"), info) ? 0 : 7);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        MESSAGE("skipped: no mount namespaces here");
        return;
    }
    CHECK(WEXITSTATUS(status) == 0);
}
