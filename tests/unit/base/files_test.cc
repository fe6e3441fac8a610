#include "base/files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "tests/unit/temporary_folder.h"

using namespace cellblock;
namespace fs = std::filesystem;

TEST_CASE("an atomic write replaces the content, sets the mode and leaves nothing beside it") {
    TemporaryFolder folder;
    const fs::path file = folder.path() / "token";
    REQUIRE(write_file_atomically(file, "one", 0600).has_value());
    REQUIRE(write_file_atomically(file, "two", 0600).has_value());
    CHECK(read_file(file, 100).value() == "two");
    struct stat status;
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("an atomic write into a missing folder is an error and not a crash") {
    const auto written = write_file_atomically("/nonexistent/folder/file", "x");
    REQUIRE_FALSE(written.has_value());
    CHECK(written.error().code == ErrorCode::not_found);
}

TEST_CASE("read_file refuses more than it was told to read") {
    TemporaryFolder folder;
    REQUIRE(write_file_atomically(folder.path() / "f", std::string(101, 'x')).has_value());
    CHECK(read_file(folder.path() / "f", 100).error().code == ErrorCode::too_large);
    CHECK(read_file(folder.path() / "f", 101).value().size() == 101);
}

TEST_CASE("a full disk is an error of its own") {
    CHECK(error_from_errno(ENOSPC, "write x").code == ErrorCode::disk_full);
    const Fd full = open_file("/dev/full", O_WRONLY).value();
    CHECK(write_all(full.get(), "x").error().code == ErrorCode::disk_full);
}

TEST_CASE("times are written as Jupyter's clients parse them") {
    CHECK(iso8601(WallTime(std::chrono::microseconds(1))) == "1970-01-01T00:00:00.000001Z");
    CHECK(iso8601(WallTime(std::chrono::seconds(1793318399))) == "2026-10-29T23:59:59.000000Z");
}
