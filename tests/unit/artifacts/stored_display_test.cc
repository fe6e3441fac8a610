#include "artifacts/stored_display.h"

#include <doctest/doctest.h>

#include "artifacts/llm_view.h"
#include "tests/unit/artifacts/tables.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

Artifact stored(ArtifactKind kind, std::string mime, std::uint64_t size_bytes) {
    Artifact artifact;
    artifact.id = "a1";
    artifact.size_bytes = size_bytes;
    artifact.info.kind = kind;
    artifact.info.mime = std::move(mime);
    artifact.info.name = "thing";
    return artifact;
}

std::string document_of(const Artifact& artifact, std::string_view content) {
    const Captured display = captured_again(artifact, as_bytes(content));
    LlmInput input;
    LlmResult result;
    result.captured = &display;
    result.artifacts.push_back(artifact);
    input.results.push_back(std::move(result));
    return llm_view(input, 4096);
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a stored table is told by its summary, without its content") {
    Artifact artifact = stored(ArtifactKind::table, "application/vnd.apache.arrow.file", 1 << 20);
    artifact.info.metadata = table_summary(huge_table(), 64 * 1024);
    CHECK(content_wanted_bytes(artifact, 1000) == 0);
    const std::string document = document_of(artifact, "");
    CAPTURE(document);
    CHECK(contains(document, "of 2,000,000 rows"));
    CHECK(contains(document, "of 5,000 columns"));
    CHECK(contains(document, "/artifacts/a1"));
}

TEST_CASE("a stored chart is told by its description") {
    Artifact artifact = stored(ArtifactKind::chart, std::string(chart_mime), 5000);
    artifact.info.metadata = {{"description", "Bar chart of three cities."}};
    CHECK(contains(document_of(artifact, ""), "Bar chart of three cities"));
}

TEST_CASE("of a stored text the beginning is told, of a picture what is known of it") {
    const Artifact text = stored(ArtifactKind::text, "text/plain", 9000);
    CHECK(content_wanted_bytes(text, 1000) == 1000);
    CHECK(contains(document_of(text, "hello"), "hello"));

    Artifact picture = stored(ArtifactKind::image, "image/png", 3);
    picture.info.metadata = {{"width", 10}, {"height", 20}, {"alt", "a cat"}};
    CHECK(content_wanted_bytes(picture, 1) == 3);
    const Captured display = captured_again(picture, as_bytes("abc"));
    CHECK(display.result_fields["png"] == "YWJj");
    CHECK(contains(document_of(picture, "abc"), "10×20 pixels, \"a cat\""));
    CHECK(content_wanted_bytes(stored(ArtifactKind::image, "image/png", 1 << 30), 1) == 0);
}

TEST_CASE("metadata of another version leaves the name and the address") {
    Artifact artifact = stored(ArtifactKind::table, "text/csv", 10);
    artifact.info.metadata = {{"schema", 7}};
    CHECK(contains(document_of(artifact, ""), "/artifacts/a1"));
    artifact.info.metadata = nullptr;
    CHECK(contains(document_of(artifact, ""), "/artifacts/a1"));
}
