#include "vm/image/cpio.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "base/process.h"
#include "tests/unit/temporary_folder.h"
#include "vm/image/guest_files.h"

using namespace cellblock;
using namespace cellblock::vm;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, std::string_view text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("a cpio archive has a header per entry, parents first, and ends on a block") {
    CpioArchive archive;
    archive.add_file("a/b/file", 0755, "12345");
    const std::string bytes = archive.bytes();
    CHECK(bytes.size() % 512 == 0);
    CHECK(bytes.starts_with("070701"));
    const std::size_t a = bytes.find(std::string("a\0", 2));
    const std::size_t b = bytes.find(std::string("a/b\0", 4));
    const std::size_t file = bytes.find("a/b/file");
    CHECK(a < b);
    CHECK(b < file);
    CHECK(bytes.find("12345") > file);
    CHECK(bytes.find("TRAILER!!!") > bytes.find("12345"));
}

TEST_CASE("equal entries give equal archives, in whatever order they came") {
    CpioArchive one;
    one.add_file("x", 0644, "1");
    one.add_file("y/z", 0644, "2");
    CpioArchive two;
    two.add_file("y/z", 0644, "old");
    two.add_file("y/z", 0644, "2");
    two.add_file("x", 0644, "1");
    CHECK(one.bytes() == two.bytes());
}

TEST_CASE("busybox reads what was written") {
    const TemporaryFolder folder;
    CpioArchive archive;
    archive.add_file("bin/tool", 0755, std::string(5000, 'x'));
    archive.add_file("empty", 0600, "");
    REQUIRE(write_file_atomically(folder / "archive", archive.bytes()).has_value());
    const std::string script = "cd '" + (folder / "").string() +
                               "' && busybox cpio -i < archive 2>/dev/null && wc -c < bin/tool && "
                               "stat -c '%a %s' empty bin/tool bin";
    const auto output = run_command({"sh", "-c", script}, 1000, std::chrono::seconds(20));
    REQUIRE(output.has_value());
    if (output->status.exit_code == 127) return;  // no busybox on this machine
    CHECK(output->standard_output.starts_with("5000\n600 0\n755 5000\n755 "));
}

TEST_CASE("guest files: the agent and Python sources, appended to an image's initramfs") {
    const TemporaryFolder folder;
    write(folder / "base.img", "BASE");
    write(folder / "agent", "program");
    write(folder / "kernel/__init__.py", "pass");
    write(folder / "kernel/sub/module.py", "code = 1");
    write(folder / "kernel/__pycache__/module.pyc", "no source");
    GuestFiles files;
    files.agent = folder / "agent";
    files.python_packages = {folder / "kernel"};
    const auto whole = append_guest_files(folder / "base.img", files);
    REQUIRE(whole.has_value());
    CHECK(whole->starts_with("BASE070701"));
    CHECK(whole->find("cellblock/bin/agent") != std::string::npos);
    CHECK(whole->find("cellblock/python/kernel/sub/module.py") != std::string::npos);
    CHECK(whole->find("module.pyc") == std::string::npos);
}

TEST_CASE("guest files: a missing agent or package is an error that names it") {
    const TemporaryFolder folder;
    GuestFiles files;
    files.agent = folder / "agent";
    REQUIRE_FALSE(guest_files_archive(files).has_value());
    write(folder / "agent", "program");
    files.python_packages = {folder / "nowhere"};
    const auto result = guest_files_archive(files);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().cause.find("nowhere") != std::string::npos);
}
