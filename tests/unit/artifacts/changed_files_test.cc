#include "artifacts/changed_files.h"

#include <doctest/doctest.h>

#include "artifacts/capture.h"
#include "base/limits.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

Json file(const std::string& path, std::int64_t size) {
    return Json{{"path", path}, {"size", size}, {"mime", "text/csv"}, {"change", "new"}};
}

Json display(const Json& files, std::int64_t more = 0) {
    Json list = {{"files", files}, {"more", more}};
    Json data = Json::object();
    data[std::string(files_mime)] = std::move(list);
    return data;
}

}  // namespace

TEST_CASE("changed files become artifacts that stay where they are, and no result") {
    Json changed = file("/home/user/b.csv", 7);
    changed["change"] = "changed";
    changed["size_before"] = 3;
    const Captured captured =
        capture(display(Json::array({file("/home/user/a.csv", 5), changed})), Json::object(), 1);
    CHECK(captured.result_fields.is_null());
    REQUIRE(captured.artifacts.size() == 2);
    const PendingArtifact& fresh = captured.artifacts[0];
    CHECK(fresh.kind == ArtifactKind::file);
    CHECK(fresh.name == "a.csv");
    CHECK(fresh.mime == "text/csv");
    CHECK(fresh.guest_path == "/home/user/a.csv");
    CHECK(fresh.guest_copy == GuestCopy::stays);
    CHECK(fresh.preview == Json{{"path", "/home/user/a.csv"}, {"change", "new"}});
    CHECK(captured.artifacts[1].preview.at("size_before") == 3);
    CHECK(captured.notices.empty());
}

TEST_CASE("files beyond the room are told of, and smaller ones after them still kept") {
    const auto large = static_cast<std::int64_t>(limits::changed_files_max_bytes) + 1;
    const Json files = Json::array({file("/home/user/large.bin", large), file("/home/user/s", 1)});
    const Captured captured = capture(display(files, 3), Json::object(), 1);
    REQUIRE(captured.artifacts.size() == 1);
    CHECK(captured.artifacts[0].name == "s");
    REQUIRE(captured.notices.size() == 2);
    CHECK(captured.notices[0].find("/home/user/large.bin (64.0 MiB)") != std::string::npos);
    CHECK(captured.notices[1].starts_with("3 more files"));
}

TEST_CASE("a folder that was not looked through is told of") {
    Json data = display(Json::array());
    data.begin().value()["unseen"] = true;
    const Captured captured = capture(data, Json::object(), 1);
    CHECK(captured.artifacts.empty());
    REQUIRE(captured.notices.size() == 1);
    CHECK(captured.notices[0].find("too many files") != std::string::npos);
}

TEST_CASE("a list of files that no honest guest sends is dropped as a whole") {
    const Json good = file("/a", 1);
    for (const auto& [field, value] : std::vector<std::pair<std::string, Json>>{
             {"path", "relative"},
             {"path", std::string("/a\0b", 4)},
             {"path", "/" + std::string(limits::file_path_max_bytes, 'x')},
             {"path", 5},
             {"size", -1},
             {"size", "large"},
             {"change", "moved"},
             {"change", "changed"},
             {"mime", nullptr}}) {
        Json bad = good;
        bad[field] = value;
        CAPTURE(bad.dump());
        CHECK_FALSE(parse_changed_files(Json{{"files", Json::array({good, bad})}, {"more", 0}}));
    }
    CHECK_FALSE(parse_changed_files(Json::array()));
    CHECK_FALSE(parse_changed_files(Json{{"files", Json::array({1})}, {"more", 0}}));
    const Json many(limits::changed_files_max + 1, good);
    CHECK_FALSE(parse_changed_files(Json{{"files", many}, {"more", 0}}));
    const Captured captured = capture(display(many), Json::object(), 1);
    CHECK(captured.artifacts.empty());
    CHECK(captured.warnings.size() == 1);
}
