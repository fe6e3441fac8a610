#include "vm/agent/user_files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/unit/temporary_folder.h"

using namespace cellblock;
using namespace cellblock::vm::agent;

namespace {

const UserIdentity me{::getuid(), ::getgid()};

std::size_t entries_in(const std::filesystem::path& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("paths are the tenant's: relative ones start at home, nonsense is refused") {
    CHECK(resolve_user_path("a/b.txt", "/home/user").value() == "/home/user/a/b.txt");
    CHECK(resolve_user_path("/etc/hosts", "/home/user").value() == "/etc/hosts");
    CHECK(resolve_user_path("~/a", "/home/user").value() == "/home/user/a");
    CHECK(resolve_user_path("./a//b", "/home/user").value() == "/home/user/a/b");
    CHECK(resolve_user_path("link/../a", "/home/user").value() == "/home/user/link/../a");
    CHECK_FALSE(resolve_user_path("", "/home/user"));
    CHECK_FALSE(resolve_user_path(std::string("a\0b", 3), "/home/user"));
    CHECK_FALSE(resolve_user_path(std::string(5000, 'a'), "/home/user"));
}

TEST_CASE("a working directory has to be a folder that the user can enter") {
    const TemporaryFolder folder;
    CHECK(check_user_can_enter(me, folder.path()));
    const auto missing = check_user_can_enter(me, folder.path() / "none");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == ErrorCode::invalid_argument);
    CHECK(missing.error().cause.find("No such file") != std::string::npos);
    CHECK_FALSE(check_user_can_enter(me, "/etc/hostname"));
}

TEST_CASE("a written file appears whole under its name, with its parents") {
    const TemporaryFolder folder;
    const auto path = folder.path() / "new" / "deep" / "a.txt";
    auto file = NewUserFile::create(me, path, 0640, true);
    REQUIRE(file);
    REQUIRE(file->write(as_bytes("hello ")));
    REQUIRE(file->write(as_bytes("there")));
    CHECK_FALSE(std::filesystem::exists(path));
    REQUIRE(file->commit());
    CHECK(folder.read("new/deep/a.txt") == "hello there");
    CHECK(stat_user_file(me, path).value()["mode"] == 0640);
}

TEST_CASE("a file that is not committed leaves nothing behind and the old one as it was") {
    const TemporaryFolder folder;
    folder.write("a.txt", "old");
    {
        auto file = NewUserFile::create(me, folder.path() / "a.txt", 0, true);
        REQUIRE(file);
        REQUIRE(file->write(as_bytes("new")));
        CHECK(entries_in(folder.path()) == 2);
    }
    CHECK(entries_in(folder.path()) == 1);
    CHECK(folder.read("a.txt") == "old");
}

TEST_CASE("a new file goes through a link and keeps the mode of the one it replaces") {
    const TemporaryFolder folder;
    folder.write("real.sh", "old");
    std::filesystem::permissions(folder.path() / "real.sh", std::filesystem::perms(0755));
    std::filesystem::create_symlink("real.sh", folder.path() / "link");
    auto file = NewUserFile::create(me, folder.path() / "link", 0, true);
    REQUIRE(file);
    REQUIRE(file->write(as_bytes("new")));
    REQUIRE(file->commit());
    CHECK(folder.read("real.sh") == "new");
    CHECK(std::filesystem::is_symlink(folder.path() / "link"));
    CHECK(stat_user_file(me, folder.path() / "real.sh").value()["mode"] == 0755);
}

TEST_CASE("a full disk is disk_full with advice") {
    if (!std::filesystem::exists("/dev/full")) return;
    auto opened = open_user_file(me, "/dev/full");
    REQUIRE_FALSE(opened);  // a device is no file
    CHECK(opened.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("reading refuses what would block or never end") {
    const TemporaryFolder folder;
    REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
    CHECK(open_user_file(me, folder.path() / "pipe").error().code == ErrorCode::invalid_argument);
    // A folder opens as its stat alone, so that a reader knows to list it.
    CHECK(open_user_file(me, folder.path()).value().stat.at("is_dir") == true);
    CHECK(open_user_file(me, folder.path() / "none").error().code == ErrorCode::not_found);
}

TEST_CASE("a listing is sorted, as deep as asked, and says when it was cut") {
    const TemporaryFolder folder;
    folder.write("b/inner/x", "");
    folder.write("a", "123");
    const auto flat = list_user_folder(me, folder.path(), 1).value();
    REQUIRE(flat["entries"].size() == 2);
    CHECK(flat["entries"][0]["name"] == "a");
    CHECK(flat["entries"][0]["size"] == 3);
    CHECK(flat["entries"][1]["type"] == "directory");
    CHECK(flat["truncated"] == false);
    CHECK(list_user_folder(me, folder.path(), 3).value()["entries"].size() == 4);
    for (int i = 0; i < 2100; ++i) folder.write("many/" + std::to_string(i), "");
    const auto cut = list_user_folder(me, folder.path() / "many", 1).value();
    CHECK(cut["truncated"] == true);
    CHECK(cut["entries"].size() == 2000);
}

TEST_CASE("folders are made, moved and removed, with an error that names the path") {
    const TemporaryFolder folder;
    const auto path = folder.path() / "x" / "y";
    CHECK(make_user_folder(me, path).value()["created"] == true);
    CHECK(make_user_folder(me, path).value()["created"] == false);
    CHECK(move_user_file(me, path, folder.path() / "z" / "moved"));
    CHECK(remove_user_file(me, folder.path() / "z"));
    const auto missing = remove_user_file(me, folder.path() / "z");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == ErrorCode::not_found);
    CHECK(missing.error().cause.find("/z") != std::string::npos);
}
