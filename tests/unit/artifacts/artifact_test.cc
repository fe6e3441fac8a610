#include "artifacts/artifact.h"

#include <doctest/doctest.h>

#include "base/limits.h"

using namespace cellblock;
using namespace cellblock::artifacts;

TEST_CASE("safe_name leaves ordinary names alone") {
    CHECK(safe_name("report.png", "x") == "report.png");
    CHECK(safe_name("Übersicht 2024 (final).xlsx", "x") == "Übersicht 2024 (final).xlsx");
    CHECK(safe_name("売上.csv", "x") == "売上.csv");
}

TEST_CASE("safe_name gives one harmless path component") {
    CHECK(safe_name("../../etc/passwd", "x") == "etc_passwd");
    CHECK(safe_name("/etc/shadow", "x") == "etc_shadow");
    CHECK(safe_name("..", "x") == "x");
    CHECK(safe_name("", "x") == "x");
    CHECK(safe_name("-rf", "x") == "rf");
    CHECK(safe_name(".bashrc", "x") == "bashrc");
    CHECK(safe_name("a\r\nSet-Cookie: b", "x") == "a_Set-Cookie_ b");
    CHECK(safe_name(std::string("a\0b", 3), "x") == "a_b");
    CHECK(safe_name("invoice\u202Egnp.exe", "x") == "invoicegnp.exe");
    CHECK(safe_name("bad\xff\xfeutf8", "x") == "badutf8");
    CHECK(safe_name("con.txt", "x") == "_con.txt");
    CHECK(safe_name("name. . .", "x") == "name");
}

TEST_CASE("safe_name cuts at a character border and keeps the extension") {
    std::string longest;
    for (int i = 0; i < 200; ++i) longest += "ä";
    const std::string safe = safe_name(longest + ".parquet", "x");
    CHECK(safe.size() <= limits::artifact_name_max_bytes);
    CHECK(safe.ends_with("ä.parquet"));
}

TEST_CASE("kinds have names and back") {
    for (const auto kind : {ArtifactKind::table, ArtifactKind::image, ArtifactKind::chart,
                            ArtifactKind::html, ArtifactKind::text, ArtifactKind::file}) {
        CHECK(artifact_kind_from(to_string(kind)) == kind);
    }
    CHECK_FALSE(artifact_kind_from("nonsense"));
}

TEST_CASE("an artifact as clients see it") {
    Artifact artifact;
    artifact.id = "abc";
    artifact.size_bytes = 12;
    artifact.created_at_ns = 1'700'000'000'123'456'000;
    artifact.info.kind = ArtifactKind::image;
    artifact.info.name = "plot.png";
    const Json json = to_json(artifact);
    CHECK(json["url"] == "/artifacts/abc");
    CHECK(json["kind"] == "image");
    CHECK(json["size"] == 12);
    CHECK(json["created_at"] == "2023-11-14T22:13:20.123456Z");
}
