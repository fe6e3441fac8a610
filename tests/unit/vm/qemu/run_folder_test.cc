#include "vm/qemu/run_folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstring>

#include <boost/asio/io_context.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/process.h"
#include "vm/qemu/left_machines.h"

using namespace cellblock;
using namespace cellblock::vm;
namespace fs = std::filesystem;

namespace {

struct Root {
    fs::path path = fs::temp_directory_path() / ("run-" + new_short_id());
    Root() { fs::create_directories(path); }
    ~Root() { fs::remove_all(path); }
};

// A child that sleeps, reaped by the fixture, not by the code under test.
struct Sleeper {
    boost::asio::io_context loop;
    Process process;
    explicit Sleeper(std::vector<std::string> argv = {"sleep", "1000"})
        : process(*Process::spawn(loop.get_executor(), SpawnOptions(std::move(argv)))) {}
    bool dead() const {
        const auto text = read_file("/proc/" + std::to_string(process.pid()) + "/stat", 4096);
        return !text || text->find(") Z ") != std::string::npos;
    }
};

RunManifest manifest_of(const std::string& id, pid_t pid) {
    RunManifest manifest;
    manifest.id = id;
    manifest.pid = pid;
    manifest.start_time_ticks = *process_start_time(pid);
    manifest.boot_id = host_boot_id();
    manifest.template_key = "abc";
    return manifest;
}

// A program that is QEMU by its name: the sweep looks at what a process runs.
std::vector<std::string> qemu_that_sleeps(const Root& root) {
    const fs::path program = root.path / "bin-of-it" / "qemu-system-x86_64";
    fs::create_directories(program.parent_path());
    fs::copy_file("/bin/sleep", program);
    return {program.string(), "1000"};
}

}  // namespace

TEST_CASE("a manifest comes back as it was written") {
    const Root root;
    RunManifest manifest = manifest_of("sandbox1", ::getpid());
    manifest.uid = 1879048192;
    manifest.accelerator = "tcg";
    REQUIRE(write_manifest(root.path, manifest).has_value());
    const auto read = read_manifest(root.path);
    REQUIRE(read.has_value());
    CHECK(read->id == manifest.id);
    CHECK(read->pid == manifest.pid);
    CHECK(read->start_time_ticks == manifest.start_time_ticks);
    CHECK(read->uid == manifest.uid);
    CHECK(read->accelerator == "tcg");
    CHECK(is_running(*read));
}

TEST_CASE("a manifest that names no process is refused") {
    const Root root;
    for (const char* text :
         {"", "{", "[]", "{\"id\":\"a\"}",
          R"({"id":"a","driver":"qemu","pid":1,"start_time_ticks":5,"boot_id":"b"})",
          R"({"id":"a","driver":"qemu","pid":-4,"start_time_ticks":5,"boot_id":"b"})",
          R"({"id":"../a","driver":"qemu","pid":400,"start_time_ticks":5,"boot_id":"b"})",
          R"({"id":"a","driver":"qemu","pid":"400","start_time_ticks":5,"boot_id":"b"})",
          R"({"id":"a","driver":"qemu","pid":99999999999,"start_time_ticks":5,"boot_id":"b"})"}) {
        REQUIRE(write_file_atomically(root.path / "manifest.json", text).has_value());
        CHECK_FALSE_MESSAGE(read_manifest(root.path).has_value(), text);
    }
}

TEST_CASE("a process with another start time or another boot is another process") {
    const Sleeper sleeper;
    RunManifest manifest = manifest_of("a", sleeper.process.pid());
    CHECK(is_running(manifest));
    RunManifest older = manifest;
    older.start_time_ticks -= 1;
    CHECK_FALSE(is_running(older));
    RunManifest before_reboot = manifest;
    before_reboot.boot_id = "00000000-0000-0000-0000-000000000000";
    CHECK_FALSE(is_running(before_reboot));
}

TEST_CASE("a run folder goes with its owner, and its sockets work however deep it lies") {
    const Root root;
    fs::path deep = root.path;
    for (int i = 0; i < 10; ++i) deep /= "a-folder-name-of-some-length";
    fs::create_directories(deep);
    {
        auto folder = RunFolder::create(deep, "sandbox1");
        REQUIRE(folder.has_value());
        struct stat status;
        REQUIRE(::stat((deep / "sandbox1").c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0700);
        const auto listening = folder->listen("port.sock");
        REQUIRE(listening.has_value());
        const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, folder->short_path("port.sock").c_str());
        CHECK(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        CHECK_FALSE(RunFolder::create(deep, "sandbox1").has_value());
        RunFolder moved = std::move(*folder);
        CHECK(fs::exists(deep / "sandbox1"));
    }
    CHECK_FALSE(fs::exists(deep / "sandbox1"));
}

TEST_CASE("the sweep ends a leftover VM and frees its folder") {
    const Root root;
    const Root elsewhere;
    const Sleeper sleeper(qemu_that_sleeps(elsewhere));
    fs::create_directories(root.path / "vm1");
    REQUIRE(write_manifest(root.path / "vm1", manifest_of("vm1", sleeper.process.pid())));
    const auto report = sweep_orphans(root.path);
    REQUIRE(report.has_value());
    CHECK(report->killed == std::vector<std::string>{"vm1"});
    CHECK(report->removed == std::vector<std::string>{"vm1"});
    CHECK(sleeper.dead());
    CHECK_FALSE(fs::exists(root.path / "vm1"));
}

TEST_CASE("the sweep never touches a process that only has a leftover's number") {
    const Root root;
    const Sleeper stranger;
    fs::create_directories(root.path / "vm1");
    RunManifest manifest = manifest_of("vm1", stranger.process.pid());
    manifest.start_time_ticks -= 7;
    REQUIRE(write_manifest(root.path / "vm1", manifest));
    const auto report = sweep_orphans(root.path);
    REQUIRE(report.has_value());
    CHECK(report->killed.empty());
    CHECK(report->removed == std::vector<std::string>{"vm1"});
    CHECK_FALSE(stranger.dead());
}

TEST_CASE("a process that is no QEMU is nobody's machine, whatever a manifest says") {
    const Root root;
    const Sleeper stranger;
    fs::create_directories(root.path / "vm1");
    REQUIRE(write_manifest(root.path / "vm1", manifest_of("vm1", stranger.process.pid())));
    REQUIRE(write_note(root.path / "vm1", "a note"));
    const auto left = sort_left_machines(root.path);
    REQUIRE(left.has_value());
    CHECK(left->machines.empty());
    CHECK(left->freed.removed == std::vector<std::string>{"vm1"});
    CHECK(left->freed.killed.empty());
    CHECK_FALSE(stranger.dead());
}

TEST_CASE("a machine with a note is left to be adopted, one without is freed") {
    const Root root;
    const Root elsewhere;
    const auto qemu = qemu_that_sleeps(elsewhere);
    const Sleeper kept(qemu);
    const Sleeper warm(qemu);
    for (const auto& [id, process] : {std::pair("kept", &kept), std::pair("warm", &warm)}) {
        fs::create_directories(root.path / id);
        REQUIRE(write_manifest(root.path / id, manifest_of(id, process->process.pid())));
    }
    REQUIRE(write_note(root.path / "kept", "first"));
    REQUIRE(write_note(root.path / "kept", "what a sandbox was"));
    const auto left = sort_left_machines(root.path);
    REQUIRE(left.has_value());
    REQUIRE(left->machines.size() == 1);
    CHECK(left->machines[0].manifest.id == "kept");
    CHECK(left->machines[0].note == "what a sandbox was");
    CHECK(left->freed.killed == std::vector<std::string>{"warm"});
    CHECK_FALSE(kept.dead());
    CHECK(warm.dead());
    CHECK(free_left_machine(root.path, "kept", "the test is over"));
    CHECK(kept.dead());
    CHECK_FALSE(fs::exists(root.path / "kept"));
}

TEST_CASE("a manifest that is another machine's is not believed") {
    const Root root;
    const Root elsewhere;
    const Sleeper sleeper(qemu_that_sleeps(elsewhere));
    fs::create_directories(root.path / "vm1");
    REQUIRE(write_manifest(root.path / "vm1", manifest_of("vm2", sleeper.process.pid())));
    REQUIRE(write_note(root.path / "vm1", "a note"));
    const auto left = sort_left_machines(root.path);
    REQUIRE(left.has_value());
    CHECK(left->machines.empty());
    CHECK_FALSE(sleeper.dead());
}

TEST_CASE("a VM whose manifest was never written is found by its arguments") {
    const Root root;
    const std::string id = new_short_id();
    // Like QEMU's: "-name <id>" among the arguments.
    const Sleeper lost({"sh", "-c", "sleep 1000; :", "-name", id});
    const Sleeper other({"sh", "-c", "sleep 1000; :", "-name", new_short_id()});
    fs::create_directories(root.path / id);
    const auto report = sweep_orphans(root.path);
    REQUIRE(report.has_value());
    CHECK(report->killed == std::vector<std::string>{id});
    CHECK(lost.dead());
    CHECK_FALSE(other.dead());
    ::kill(-lost.process.pid(), SIGKILL);  // the shells' own sleeps
    ::kill(-other.process.pid(), SIGKILL);
}

TEST_CASE("sweeping nothing is fine, and foreign names are left alone") {
    const Root root;
    CHECK(sweep_orphans(root.path / "missing").has_value());
    fs::create_directories(root.path / "not an id");
    REQUIRE(write_file_atomically(root.path / "file", "x"));
    const auto report = sweep_orphans(root.path);
    REQUIRE(report.has_value());
    CHECK(report->removed.empty());
    CHECK(fs::exists(root.path / "not an id"));
    CHECK(fs::exists(root.path / "file"));
}
