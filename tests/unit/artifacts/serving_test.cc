#include "artifacts/serving.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

Artifact artifact_of(const std::string& mime, const std::string& name) {
    Artifact artifact;
    artifact.sha256 = std::string(64, 'a');
    artifact.info.mime = mime;
    artifact.info.name = name;
    return artifact;
}

std::string header(const Headers& headers, std::string_view name) {
    for (const auto& [key, value] : headers) {
        if (key == name) return value;
    }
    return "(absent)";
}

}  // namespace

TEST_CASE("HTML and SVG are sandboxed, others attached unless they are plain pictures or text") {
    for (const char* mime : {"text/html", "image/svg+xml"}) {
        const Headers headers = content_headers(artifact_of(mime, "x"));
        const std::string policy = header(headers, "Content-Security-Policy");
        CHECK(policy.starts_with("sandbox;"));
        CHECK(policy.find("allow-scripts") == std::string::npos);
        CHECK(header(headers, "Content-Disposition").starts_with("inline"));
        CHECK(header(headers, "X-Content-Type-Options") == "nosniff");
    }
    const auto disposition = [](const char* mime) {
        return header(content_headers(artifact_of(mime, "x")), "Content-Disposition");
    };
    CHECK(disposition("image/png").starts_with("inline"));
    CHECK(disposition("application/pdf").starts_with("attachment"));
    CHECK(disposition("application/xhtml+xml").starts_with("inline"));
    CHECK(disposition("application/vnd.apache.arrow.file").starts_with("attachment"));
    CHECK(disposition("text/javascript").starts_with("attachment"));
}

TEST_CASE("types that could break a header are not served") {
    CHECK(served_type("text/csv") == "text/csv; charset=utf-8");
    CHECK(served_type("image/png") == "image/png");
    CHECK(served_type("application/vnd.cellblock.chart+json") ==
          "application/vnd.cellblock.chart+json");
    CHECK(served_type("text/html\r\nX: y") == "application/octet-stream");
    CHECK(served_type("text/html; charset=utf-7") == "application/octet-stream");
    CHECK(served_type("") == "application/octet-stream");
    CHECK(served_type("png") == "application/octet-stream");
    CHECK(served_type("a/b/c") == "application/octet-stream");
}

TEST_CASE("Content-Disposition in both forms") {
    CHECK(content_disposition("plot.png", true) == "inline; filename=\"plot.png\"");
    CHECK(content_disposition("Übersicht €.csv", false) ==
          "attachment; filename=\"_bersicht _.csv\"; "
          "filename*=UTF-8''%C3%9Cbersicht%20%E2%82%AC.csv");
    CHECK(content_disposition("a\"\r\nSet-Cookie: x", false) ==
          "attachment; filename=\"a_Set-Cookie_ x\"");
}

TEST_CASE("entity tags") {
    const Artifact artifact = artifact_of("image/png", "x");
    const std::string tag = entity_tag(artifact);
    CHECK(header(content_headers(artifact), "ETag") == tag);
    CHECK(matches_entity_tag(tag, tag));
    CHECK(matches_entity_tag("\"b\", W/" + tag, tag));
    CHECK(matches_entity_tag(" * ", tag));
    CHECK_FALSE(matches_entity_tag("", tag));
    CHECK_FALSE(matches_entity_tag("\"b\"", tag));
    CHECK_FALSE(matches_entity_tag(std::string(64, 'a'), tag));
}
