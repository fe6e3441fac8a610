#include "artifacts/capture.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

// A 1x1 picture, as Python's encoders send it.
constexpr const char* png_base64 =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg==\n";

Captured captured(const char* data, const char* metadata = "{}") {
    return capture(Json::parse(data), Json::parse(metadata), 3);
}

}  // namespace

TEST_CASE("MIME types become E2B's fields") {
    const Captured result = captured(R"({"text/plain":"'abc'","text/markdown":"# a",
        "text/latex":"$x$","application/javascript":"1","application/json":{"a":[1]},
        "e2b/data":{"c":[1,null]},"e2b/chart":{"type":"line"},"x/y":{"z":1},"text/x":"t"})");
    CHECK(result.result_fields == Json::parse(R"({"text":"abc","markdown":"# a","latex":"$x$",
        "javascript":"1","json":{"a":[1]},"data":{"c":[1,null]},"chart":{"type":"line"},
        "extra":{"x/y":{"z":1},"text/x":"t"}})"));
    CHECK(result.artifacts.empty());
    CHECK(result.warnings.empty());
}

TEST_CASE("extra is always there, also for an empty or broken display") {
    CHECK(captured("{}").result_fields == Json::parse(R"({"extra":{}})"));
    CHECK(captured("[1]").result_fields == Json::parse(R"({"extra":{}})"));
    CHECK(captured("[1]").warnings.size() == 1);
    CHECK(captured(R"({"text/plain":7,"image/png":{"a":1},"e2b/data":[1]})").result_fields ==
          Json::parse(R"({"extra":{}})"));
}

TEST_CASE("one pair of outer quotes goes") {
    CHECK(strip_quotes("'a'") == "a");
    CHECK(strip_quotes("\"a'") == "\"a'");
    CHECK(strip_quotes("\"'a'\"") == "'a'");
    CHECK(strip_quotes("'") == "'");
    CHECK(strip_quotes("''").empty());
    CHECK(strip_quotes("").empty());
    CHECK(strip_quotes("'a' + 'b'") == "a' + 'b");  // as E2B does
}

TEST_CASE("a picture goes out as it came and becomes an artifact with its size") {
    Json data;
    data["text/plain"] = "<Figure size 640x480 with 1 Axes>";
    data["image/png"] = png_base64;
    const Captured result = capture(data, Json::parse(R"({"image/png":{"alt":"a plot"}})"), 3);
    CHECK(result.result_fields["png"] == png_base64);
    CHECK(result.result_fields["text"] == "<Figure size 640x480 with 1 Axes>");
    REQUIRE(result.artifacts.size() == 1);
    const PendingArtifact& artifact = result.artifacts[0];
    CHECK(artifact.kind == ArtifactKind::image);
    CHECK(artifact.mime == "image/png");
    CHECK(artifact.name == "image-3.png");
    CHECK(artifact.field == "png");
    CHECK(artifact.preview == Json::parse(R"({"width":1,"height":1,"alt":"a plot"})"));
    CHECK(as_text(artifact.bytes).starts_with("\x89PNG"));
}

TEST_CASE("content that is not what its type says is not kept as such") {
    const Captured html = captured(R"({"image/png":"PGh0bWw+"})");
    REQUIRE(html.artifacts.size() == 1);
    CHECK(html.artifacts[0].mime == "application/octet-stream");
    CHECK(html.artifacts[0].kind == ArtifactKind::file);
    CHECK(html.warnings.size() == 1);
    const Captured broken = captured(R"({"image/jpeg":"***"})");
    CHECK(broken.artifacts.empty());
    CHECK(broken.result_fields["jpeg"] == "***");
    CHECK(captured(R"({"application/pdf":"PGh0bWw+"})").artifacts.empty());
    const Captured pdf = captured(R"({"application/pdf":"JVBERi0xLjQK"})");
    REQUIRE(pdf.artifacts.size() == 1);
    CHECK(pdf.artifacts[0].name == "document-3.pdf");
}

TEST_CASE("SVG and HTML") {
    const Captured svg = captured(R"({"image/svg+xml":"<svg width='4' height='3'></svg>"})");
    REQUIRE(svg.artifacts.size() == 1);
    CHECK(svg.artifacts[0].mime == "image/svg+xml");
    CHECK(svg.artifacts[0].preview["width"] == 4.0);
    const Captured html = captured(R"({"text/html":["<b>","x</b>"]})");
    CHECK(html.result_fields["html"] == "<b>x</b>");
    REQUIRE(html.artifacts.size() == 1);
    CHECK(html.artifacts[0].kind == ArtifactKind::html);
    CHECK(html.artifacts[0].name == "page-3.html");
}

TEST_CASE("other picture formats are kept and still go to extra") {
    const Captured gif = captured(R"({"image/gif":"R0lGODlhCgAUAA=="})");
    CHECK(gif.result_fields["extra"].contains("image/gif"));
    REQUIRE(gif.artifacts.size() == 1);
    CHECK(gif.artifacts[0].mime == "image/gif");
    CHECK(gif.artifacts[0].preview["height"] == 20);
}

TEST_CASE("a table: its data is fetched from the guest, its HTML is not stored again") {
    const Captured result = captured(R"({"text/plain":"   a\n0  1","text/html":"<table>",
        "e2b/data":{"a":[1]},
        "application/vnd.cellblock.table+json":{"v":1,"rows_total":1,
          "columns":[{"name":"a","dtype":"int64","kind":"integer","nulls":0}],"preview":[[1]],
          "data":{"format":"arrow","path":"/run/cellblock/artifacts/x.arrow","rows":1}}})");
    CHECK(result.result_fields == Json::parse(R"({"text":"   a\n0  1","html":"<table>",
        "data":{"a":[1]},"extra":{}})"));
    REQUIRE(result.artifacts.size() == 1);
    const PendingArtifact& artifact = result.artifacts[0];
    CHECK(artifact.kind == ArtifactKind::table);
    CHECK(artifact.guest_path == "/run/cellblock/artifacts/x.arrow");
    CHECK(artifact.name == "table-3.arrow");
    CHECK(artifact.preview["rows"] == 1);
    REQUIRE(result.table);
    CHECK(result.table->columns[0].name == "a");
}

TEST_CASE("a small table brings its data along") {
    const Captured result = captured(R"({"application/vnd.cellblock.table+json":{"v":1,
          "rows_total":1,"columns":[{"name":"a"}],"preview":[[1]],
          "data":{"format":"csv","base64":"YQ0KMQ0K","rows":1}}})");
    REQUIRE(result.artifacts.size() == 1);
    CHECK(result.artifacts[0].guest_path.empty());
    CHECK(as_text(result.artifacts[0].bytes) == "a\r\n1\r\n");
    CHECK(result.artifacts[0].mime == "text/csv");
}

TEST_CASE("a table without a file keeps its preview; a broken one is dropped with a warning") {
    const Captured preview = captured(R"({"application/vnd.cellblock.table+json":
        {"v":1,"rows_total":1,"columns":[{"name":"a"}],"preview":[[1]],"data":null,
         "partial":true,"reason":"the disk is full"}})");
    REQUIRE(preview.artifacts.size() == 1);
    CHECK(preview.artifacts[0].name == "table-3.table.json");
    CHECK(preview.artifacts[0].preview["reason"] == "the disk is full");
    CHECK(preview.artifacts[0].guest_path.empty());
    CHECK_FALSE(preview.artifacts[0].bytes.empty());
    const Captured broken = captured(R"({"text/plain":"t",
        "application/vnd.cellblock.table+json":{"v":1}})");
    CHECK(broken.result_fields == Json::parse(R"({"text":"t","extra":{}})"));
    CHECK(broken.artifacts.empty());
    CHECK(broken.warnings.size() == 1);
    const Captured failed = captured(R"({"text/plain":"t","text/html":"<table>",
        "application/vnd.cellblock.table+json":
        {"v":1,"columns":[],"preview":[],"partial":true,"reason":"why"}})");
    CHECK_FALSE(failed.table);
    REQUIRE(failed.artifacts.size() == 1);
    CHECK(failed.artifacts[0].kind == ArtifactKind::html);
    CHECK(failed.warnings == std::vector<std::string>{"why"});
}

TEST_CASE("our own types never reach extra, and a thousand types are cut") {
    CHECK(captured(R"({"application/vnd.cellblock.future+json":{}})").result_fields["extra"] ==
          Json::object());
    Json many;
    for (int i = 0; i < 1000; ++i) many["x/" + std::to_string(i)] = i;
    const Captured result = capture(many, Json(), 1);
    CHECK(result.result_fields["extra"].size() == 64);
    CHECK(result.warnings.size() == 1);
}

TEST_CASE("the full data of a chart's sampled layers is a table of its own beside the chart") {
    constexpr const char* column = R"({"name":"layer","dtype":"category","kind":"category"},
        {"name":"x","dtype":"float64","kind":"floating"})";
    const auto display =
        [&](const std::string& data) {
            return captured((R"({"application/vnd.cellblock.chart+json":{"v":1,"panels":[],
            "full_data":{"v":1,"library":"matplotlib","type":"chart","rows_total":300000,
            "columns":[)" + std::string(column) +
                             R"(],"layers":["a",7,"b\nc"],"data":)" + data + "}}}")
                                .c_str());
        };
    const Captured result =
        display(R"({"format":"arrow","path":"/run/cellblock/artifacts/y.arrow","rows":300000})");
    REQUIRE(result.artifacts.size() == 2);
    CHECK(result.artifacts[0].kind == ArtifactKind::chart);
    CHECK(as_text(result.artifacts[0].bytes).find("full_data") == std::string_view::npos);
    const PendingArtifact& data = result.artifacts[1];
    CHECK(data.kind == ArtifactKind::table);
    CHECK(data.name == "chart-3-data.arrow");
    CHECK(data.mime == "application/vnd.apache.arrow.file");
    CHECK(data.guest_path == "/run/cellblock/artifacts/y.arrow");
    CHECK(data.preview["of"] == "chart");
    CHECK(data.preview["layers"] == Json::parse(R"(["a","b c"])"));
    CHECK(data.preview["rows"] == 300000);
    CHECK_FALSE(result.table);
    CHECK(result.warnings.empty());

    // What is no file of ours costs the data, not the chart.
    for (const char* wrong : {R"({"format":"arrow","path":"/etc/passwd"})", "null",
                              R"({"format":"parquet","path":"/run/cellblock/artifacts/y"})"}) {
        const Captured refused = display(wrong);
        REQUIRE(refused.artifacts.size() == 1);
        CHECK(refused.artifacts[0].kind == ArtifactKind::chart);
        CHECK(refused.warnings.size() == 1);
    }
}
